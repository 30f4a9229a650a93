// What must hold when a record of a session was damaged: a typed error, and all else goes on.

import type { BaseSessionService } from 'adk-session-wasm';
import { freshId } from './events.js';
import { must, outcomeOf, requireTypedError } from './oracle.js';
import type { Random } from './random.js';
import { said } from './world.js';

/** What may stand in the place of a number or a text. */
export const NONSENSE: readonly unknown[] = [
  null, undefined, '', ' ', '{', '{}', '[]', '[null]', 'null', '7', '"text"', '{"a":', '{"__proto__":{"a":1}}', '{"id":7}', '{"actions":null}',
  '{"actions":{"stateDelta":[]}}', '\0', '\ud800', 'x'.repeat(70_000), `${'['.repeat(2000)}${']'.repeat(2000)}`, -1, 0, 0.5, NaN, Infinity,
  -Infinity, 2 ** 53, 2 ** 64, 1e300, true, {}, [], [null], 'not a time', '9999-99-99 99:99:99', '2020-01-01', 1n,
]; // prettier-ignore

const CODES = ['corrupt_record', 'storage_failed', 'not_found', 'already_exists', 'quota_exceeded'];

/**
 * @param damage damages something of the user `damaged`, or of the app
 * @param options `isOnce`: only the next reading finds the damage
 */
export async function damagedCase(
  service: BaseSessionService,
  random: Random,
  damage: () => void,
  { isOnce }: { readonly isOnce: boolean },
): Promise<void> {
  const key = { appName: 'shop', userId: 'damaged', sessionId: 's1' };
  const healthyKey = { appName: 'office', userId: 'healthy', sessionId: 's1' };
  const healthy = await service.createSession({ ...healthyKey, state: { well: true } });
  const state = { n: 1, 'user:u': 1, 'app:a': 1 };
  const session = await service.createSession({ ...key, state });
  for (let count = random.below(4); count >= 0; count -= 1) {
    await service.appendEvent({ session, event: said(freshId()) });
  }
  damage();
  const calls: (() => unknown)[] = [
    () => service.getSession(key),
    () => service.getSession({ ...key, config: { numRecentEvents: 1 } }),
    () => service.listSessions({ appName: 'shop' }),
    () => service.appendEvent({ session, event: said(freshId()) }),
    () => service.getOrCreateSession(key),
    () => service.createSession(key),
  ];
  const outcome = await outcomeOf(random.pick(calls));
  requireTypedError(outcome);
  if (!outcome.isDone) {
    const { code } = outcome.error as { code: string };
    must(CODES.includes(code), 'A damaged record is told as such.', outcome.error);
  }
  // Whatever it was, the other session goes on.
  await service.appendEvent({ session: healthy, event: said(freshId()) });
  const read = await service.getSession(healthyKey);
  must(read?.events.length === 1 && read.state.well === true, 'All else stays readable.', read);
  const deleted = await outcomeOf(() => service.deleteSession(key));
  requireTypedError(deleted);
  if (isOnce) must(deleted.isDone, 'A damaged session can be deleted.', deleted);
}
