import assert from 'node:assert/strict';
import { inspect } from 'node:util';

import { isSessionError, type SessionErrorCode } from '../../js/values/errors/errors.js';

/** Returns a check of what was thrown: an error of this package. None shows what the tests have as a secret. */
export const failsWith =
  (code: SessionErrorCode, message = /./) =>
  (error: unknown): true => {
    assert.ok(isSessionError(error, code), inspect(error));
    assert.match(error.message, message);
    assert.doesNotMatch(inspect(error) + JSON.stringify(error), /s3cret/);
    return true;
  };
