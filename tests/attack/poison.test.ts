// Prototypes that a page or a library has changed, before the package is loaded or after it. Each realm is a thread's own.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';

/** Names that the package reads from options, requests, events and states. */
const NAMES = [
  'state', 'events', 'id', 'appName', 'userId', 'sessionId', 'signal', 'config', 'limit', 'offset', 'page', 'order', 'stale', 'history',
  'clock', 'newId', 'stateSchema', 'stateWriter', 'lastUpdateTime', 'numRecentEvents', 'afterTimestamp', 'skipCorrupt', 'partial',
  'actions', 'stateDelta', 'timestamp', 'author', 'content', 'price', 'created', 'revision', 'floor', 'user', 'app', 'session',
  'temp', 'text', 'delta', 'code', 'message', 'cause', 'path', 'key', 'storage', 'name', 'event', 'module', 'url', '0', '1',
]; // prettier-ignore

const POISONS = {
  data: 'members of Object.prototype',
  setter: 'setters of Object.prototype',
  array: 'members of Array.prototype',
  frozen: 'prototypes that are frozen',
  frozenBefore: 'prototypes that were frozen before the package was loaded',
};

const [onlyTarget] = (process.env.ATTACK ?? '').split(':');

if (!onlyTarget || onlyTarget === 'poison') {
  for (const [poison, title] of Object.entries(POISONS)) {
    it(`a service in memory withstands ${title}`, async () => {
      const worker = new Worker(new URL('poisoned.mjs', import.meta.url), {
        workerData: { poison, names: poison.startsWith('frozen') ? ['price'] : NAMES },
        execArgv: [],
      });
      const [failures] = (await once(worker, 'message')) as [string[]];
      await worker.terminate();
      assert.deepEqual(failures, []);
    });
  }
}
