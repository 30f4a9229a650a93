import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SESSION_ERROR_CODES, SessionError } from '../../../../js/values/errors/errors.js';
import { publicErrorOf, statusOf } from '../../../../js/values/errors/public_error.js';

const SECRET = '/var/lib/tea.db';

describe('publicErrorOf', () => {
  it('tells of faults neither the message nor that a server is there: a page stores it too', () => {
    const faults = SESSION_ERROR_CODES.filter(
      (code) => statusOf(code) >= 500 && code !== 'unsupported',
    );
    assert.ok(faults.includes('storage_failed'));
    for (const code of faults) {
      const { message } = publicErrorOf(new SessionError(code, SECRET));
      assert.doesNotMatch(message, /tea\.db|server/u, code);
    }
  });

  it('tells the message of an error that the caller can mend', () => {
    assert.equal(publicErrorOf(new SessionError('not_found', SECRET)).message, SECRET);
  });
});
