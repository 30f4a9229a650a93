import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError, SessionError } from '../../../../js/index.js';
import { loadChunk, onDemand } from '../../../../js/core/wasm/loader/chunk.js';

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

  it('is loaded by its first use, once', async () => {
    let loads = 0;
    const part = onDemand(() => Promise.resolve({ number: (loads += 1) }));
    assert.equal(loads, 0);
    const module = await part();
    assert.deepEqual(module, { number: 1 });
    assert.equal(await part(), module);
    assert.equal(loads, 1);
  });

  it('is loaded again after a failure', async () => {
    const answers = [Promise.reject(new TypeError('offline')), Promise.resolve('loaded')];
    const part = onDemand(() => answers.shift()!);
    await assert.rejects(Promise.resolve(part()), (error) =>
      isSessionError(error, 'connection_lost'),
    );
    assert.equal(await part(), 'loaded');
  });

  it('is not waited for after the signal of the call has fired', async () => {
    const part = onDemand(() => new Promise<never>(() => undefined));
    const controller = new AbortController();
    const waiting = part(controller.signal);
    controller.abort('left');
    await assert.rejects(Promise.resolve(waiting), (error) => {
      assert.ok(error instanceof SessionError);
      assert.deepEqual([error.code, error.cause], ['aborted', 'left']);
      return true;
    });
  });
});
