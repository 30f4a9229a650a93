import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError, SessionError } from '../../../js/index.js';
import { onDemand, ownMembers } from '../../../js/read/part.js';

describe('A part that is loaded on demand', () => {
  it('is loaded by its first use, and is there at once afterwards', async () => {
    let loads = 0;
    const part = onDemand(() => Promise.resolve({ number: (loads += 1) }));
    assert.equal(loads, 0);
    const module = await part();
    assert.deepEqual(module, { number: 1 });
    assert.equal(part(), module);
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

  it('gets the arrays and objects of its request as they were at the call', () => {
    const [keys, labels] = [['topic'], { kind: 'chat' }];
    const own = [ownMembers(keys), ownMembers(labels), ownMembers('text')];
    keys.push('other');
    labels.kind = 'changed';
    assert.deepEqual(own, [['topic'], { kind: 'chat' }, 'text']);
  });
});
