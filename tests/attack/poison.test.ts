// Prototypes that a page or a library has changed, before the package is loaded or after it. Each realm is a thread's own.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';

/** Names that the package reads from events, states, rows and errors. */
const NAMES = [
  'events', 'id', 'appName', 'sessionId', 'signal', 'config', 'numRecentEvents', 'afterTimestamp', 'skipCorrupt', 'newId', 'partial',
  'actions', 'stateDelta', 'timestamp', 'author', 'content', 'price', 'created', 'revision', 'floor', 'user', 'app', 'session',
  'state', 'userId', 'limit', 'offset', 'page', 'order', 'stale', 'history', 'clock', 'stateSchema', 'stateWriter', 'lastUpdateTime',
  'temp', 'text', 'delta', 'cause', 'path', 'key', 'storage', 'name', 'event', 'module', 'url',
]; // prettier-ignore

const POISONS = {
  data: 'members of Object.prototype',
  setter: 'setters of Object.prototype',
  array: 'members of Array.prototype',
  frozen: 'prototypes that are frozen',
  frozenBefore: 'prototypes that were frozen before the package was loaded',
};

/** Which of them is tried over which storage. */
const STORAGES: Record<string, (keyof typeof POISONS)[]> = {
  memory: ['data', 'setter', 'array', 'frozen', 'frozenBefore'],
  sqlite: ['array', 'frozen', 'frozenBefore'],
};

const [onlyTarget] = (process.env.ATTACK ?? '').split(':');

if (!onlyTarget || onlyTarget === 'poison') {
  for (const [storage, poisons] of Object.entries(STORAGES)) {
    for (const poison of poisons) {
      it(`a service over ${storage} withstands ${POISONS[poison]}`, async () => {
        const worker = new Worker(new URL('poisoned.mjs', import.meta.url), {
          workerData: { storage, poison, names: poison.startsWith('frozen') ? ['price'] : NAMES },
          execArgv: [],
        });
        const [failures] = (await once(worker, 'message')) as [string[]];
        await worker.terminate();
        assert.deepEqual(failures, []);
      });
    }
  }
}
