// SQLite works on the program's own thread: other tasks have to run between its transactions.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../../../js/service/database/index.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };
const PUTS = 16;

it('Transactions over SQLite leave turns of the event loop to others, whatever the verb, and keep their order', async (t) => {
  await using service = new DatabaseSessionService('sqlite::memory:', { artifacts: true });
  await service.createSession(KEY);
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  t.after(() => clearImmediate(next));
  // Each look at the clock is 10 ms later, as if a transaction took at least so long.
  let now = performance.now();
  t.mock.method(performance, 'now', () => (now += 10));
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  const reads = Array.from({ length: PUTS }, (_, n) =>
    service.getSession(KEY).then(note(`read ${n}`)),
  );
  await Promise.all(reads);
  assert.deepEqual(
    done,
    Array.from({ length: PUTS }, (_, n) => `read ${n}`),
  );
  assert.ok(turns >= PUTS / 2, `${turns} turns for reads`);
  turns = 0;
  const data = new Uint8Array(10);
  const puts = Array.from({ length: PUTS }, (_, n) =>
    service.artifacts.put({ ...KEY, filename: `f${n}`, data }),
  );
  await Promise.all(puts);
  assert.ok(turns >= PUTS / 2, `${turns} turns for puts`);
});
