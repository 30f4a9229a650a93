import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError, SessionError } from '../../../../js/index.js';
import { loadChunk } from '../../../../js/core/wasm/loader/chunk.js';

describe('A part that is loaded on demand', () => {
  it('is what its import gives', async () => {
    const { loadChunk: loaded } = await loadChunk(
      () => import('../../../../js/core/wasm/loader/chunk.js'),
    );
    assert.equal(loaded, loadChunk);
  });

  it('is reported as a lost connection if its file cannot be loaded', async () => {
    const missing = '../../../js/core/call/not_there.js';
    const load = () => import(missing) as Promise<unknown>;
    await assert.rejects(loadChunk(load), (error: unknown) => {
      assert.ok(isSessionError(error, 'connection_lost'));
      assert.match(error.message, /could not be loaded: .*not_there\.js.*Try again/s);
      assert.ok(error.cause instanceof Error);
      return true;
    });
  });

  it('fails with its own error if that is a SessionError', async () => {
    const failure = new SessionError('wasm_unavailable', 'No WebAssembly here.');
    await assert.rejects(
      loadChunk(() => Promise.reject(failure)),
      (error) => error === failure,
    );
  });
});
