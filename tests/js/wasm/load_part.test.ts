import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError, SessionError } from '../../../js/index.js';
import { loadPart } from '../../../js/wasm/loader/load_part.js';

describe('A part that is loaded on demand', () => {
  it('is what its import gives', async () => {
    const { loadPart: loaded } = await loadPart(
      () => import('../../../js/wasm/loader/load_part.js'),
    );
    assert.equal(loaded, loadPart);
  });

  it('is reported as a lost connection if its file cannot be loaded', async () => {
    const missing = '../../../js/call/not_there.js';
    const load = () => import(missing) as Promise<unknown>;
    await assert.rejects(loadPart(load), (error: unknown) => {
      assert.ok(isSessionError(error, 'connection_lost'));
      assert.match(error.message, /could not be loaded: .*not_there\.js.*Try again/s);
      assert.ok(error.cause instanceof Error);
      return true;
    });
  });

  it('fails with its own error if that is a SessionError', async () => {
    const failure = new SessionError('wasm_unavailable', 'No WebAssembly here.');
    await assert.rejects(
      loadPart(() => Promise.reject(failure)),
      (error) => error === failure,
    );
  });
});
