import assert from 'node:assert/strict';
import { it } from 'node:test';

import { eventOf, numbers, type Open } from './concurrency.js';

const APP = { appName: 'app' };
const USERS = ['ada', 'eve'] as const;

/**
 * Writes that want the same rows from different ends: sessions, their users and their app.
 *
 * @param deadlocks how many the server has found since it was started; they would be tried again, and so
 *   fail for nobody
 */
export function neverDeadlocks(
  title: string,
  newUrl: () => Promise<string>,
  open: Open,
  deadlocks: () => Promise<number>,
) {
  it(`no writes on ${title} wait for each other in a circle`, async () => {
    const url = await newUrl();
    const before = await deadlocks();
    const two = [open(url), open(url)] as const;
    await Promise.all(two.map((service) => service.open()));
    await Promise.all(
      numbers(8).map(async (n) => {
        const [service, other] = n % 2 === 0 ? two : [two[1], two[0]];
        // Appends of these are in groups with those of other numbers.
        const own = await service.createSession({ ...APP, userId: 'own', sessionId: `${n}` });
        for (const round of numbers(6)) {
          const userId = USERS[(n + round) % 2] ?? '';
          const key = { ...APP, userId, sessionId: `${n}-${round}` };
          const delta = { 'app:a': n, 'user:u': round };
          const session = await service.getOrCreateSession({ ...APP, userId, sessionId: 'common' });
          await Promise.all([
            // May find it deleted with its user.
            service
              .appendEvent({ session, event: eventOf(`${n}-${round}`, { ...delta, n }) })
              .catch(unlessGone),
            service.appendEvent({ session: own, event: eventOf(`own ${round}`, delta) }),
            other.updateState({ ...APP, userId, stateDelta: delta }),
            other.updateState({ ...APP, stateDelta: { 'app:b': n } }),
            other.createSession({ ...key, state: delta }).then(() => service.deleteSession(key)),
            service.deleteUserState({ ...APP, userId }),
            n === 0 ? other.deleteUser({ ...APP, userId }) : service.deleteAppState(APP),
          ]);
        }
      }),
    );
    await Promise.all(two.map((service) => service.close()));
    assert.equal((await deadlocks()) - before, 0);
  });
}

function unlessGone(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'not_found') throw error;
}
