import assert from 'node:assert/strict';
import { it } from 'node:test';

import { eventOf, numbers, type Open } from './concurrency.js';

const APP = { appName: 'app' };
const USERS = ['ada', 'eve'] as const;

/**
 * Writes that lock the same rows, starting from different ones: a session, its user, or its app.
 *
 * @param deadlocks how many deadlocks the server has detected since its start. The service retries a
 *   transaction after a deadlock, so no call would fail.
 */
export function neverDeadlocks(
  title: string,
  newUrl: () => Promise<string>,
  open: Open,
  deadlocks: () => Promise<number>,
) {
  it(`concurrent writes on ${title} cause no deadlock`, async () => {
    const url = await newUrl();
    const before = await deadlocks();
    const two = [open(url), open(url)] as const;
    await Promise.all(two.map((service) => service.ping()));
    await Promise.all(
      numbers(8).map(async (n) => {
        const [service, other] = n % 2 === 0 ? two : [two[1], two[0]];
        // Appends to these sessions are grouped with each other.
        const own = await service.createSession({ ...APP, userId: 'own', sessionId: `${n}` });
        for (const round of numbers(6)) {
          const userId = USERS[(n + round) % 2] ?? '';
          const key = { ...APP, userId, sessionId: `${n}-${round}` };
          const delta = { 'app:a': n, 'user:u': round };
          const session = await service.getOrCreateSession({ ...APP, userId, sessionId: 'common' });
          await Promise.all([
            service.appendEvent({ session, event: eventOf(`${n}-${round}`, { ...delta, n }) }),
            service.appendEvent({ session: own, event: eventOf(`own ${round}`, delta) }),
            other.updateState({ ...APP, userId, stateDelta: delta }),
            other.updateState({ ...APP, stateDelta: { 'app:b': n } }),
            other.createSession({ ...key, state: delta }).then(() => service.deleteSession(key)),
            service.deleteUserState({ ...APP, userId }),
            service.deleteAppState(APP),
          ]);
        }
      }),
    );
    await Promise.all(two.map((service) => service.close()));
    assert.equal((await deadlocks()) - before, 0);
  });
}

/**
 * A user who is deleted again and again while the user's sessions are created and written. The server may
 * detect deadlocks: the user's row is inserted over a deleted one, and sessions appear after the lock of the
 * user's row. The service retries them.
 */
export function deletesUsersInUse(title: string, newUrl: () => Promise<string>, open: Open) {
  it(`deleting a user on ${title} while the user's sessions are written fails no call`, async () => {
    const url = await newUrl();
    const two = [open(url), open(url)] as const;
    const user = { ...APP, userId: 'ada' };
    await Promise.all([
      ...two.map(async (service) => {
        for (let round = 0; round < 10; round += 1) await service.deleteUser(user);
      }),
      ...numbers(6).map(async (n) => {
        const service = two[n % 2 === 0 ? 0 : 1];
        for (const round of numbers(10)) {
          const session = await service.getOrCreateSession({ ...user, sessionId: 'common' });
          const event = eventOf(`${n}-${round}`, { 'app:a': n, 'user:u': round });
          await service.appendEvent({ session, event }).catch(unlessGone);
        }
      }),
    ]);
    await two[0].deleteUser(user);
    assert.deepEqual((await two[1].listSessions(user)).sessions, []);
    await Promise.all(two.map((service) => service.close()));
  });
}

function unlessGone(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'not_found') throw error;
}
