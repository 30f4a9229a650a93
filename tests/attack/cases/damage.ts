// The rules for a damaged record of a session: the call fails with a typed error, and all other data keeps working.

import type { BaseSessionService } from 'adk-session-wasm';
import { freshId } from './events.js';
import { must, outcomeOf, requireTypedError } from './oracle.js';
import type { Random } from './random.js';
import { textEvent } from './world.js';

/** Wrong values for a number or a string. */
export const WRONG_VALUES: readonly unknown[] = [
  null, undefined, '', ' ', '{', '{}', '[]', '[null]', 'null', '7', '"text"', '{"a":', '{"__proto__":{"a":1}}', '{"id":7}', '{"actions":null}',
  '{"actions":{"stateDelta":[]}}', '\0', '\ud800', 'x'.repeat(70_000), `${'['.repeat(2000)}${']'.repeat(2000)}`, -1, 0, 0.5, NaN, Infinity,
  -Infinity, 2 ** 53, 2 ** 64, 1e300, true, {}, [], [null], 'not a time', '9999-99-99 99:99:99', '2020-01-01', 1n,
]; // prettier-ignore

export const healthyKey = { appName: 'office', userId: 'healthy', sessionId: 's1' };
const key = { appName: 'shop', userId: 'damaged', sessionId: 's1' };

const CODES = ['corrupt_record', 'storage_failed', 'not_found', 'already_exists', 'quota_exceeded'];

/**
 * @param damage damages a record of the user `damaged`, or of the app
 * @param options `isOnce`: only the next read finds the damage
 */
export async function damagedCase(
  service: BaseSessionService,
  random: Random,
  damage: () => void | Promise<void>,
  { isOnce }: { readonly isOnce: boolean },
): Promise<void> {
  const healthy = await service.createSession({ ...healthyKey, state: { well: true } });
  await service.appendEvent({ session: healthy, event: textEvent('secret') });
  const state = { n: 1, 'user:u': 1, 'app:a': 1 };
  const session = await service.createSession({ ...key, state });
  // IndexedDB stores the events of one call in one record.
  const together = Array.from({ length: random.pick([1, 20]) }, () => textEvent(freshId()));
  await service.appendEvents({ session, events: together });
  for (let count = random.below(4); count > 0; count -= 1) {
    await service.appendEvent({ session, event: textEvent(freshId()) });
  }
  await service.updateState({ ...key, stateDelta: { n: 2, 'user:u': 2, 'app:a': 2 } });
  await damage();
  const calls: (() => unknown)[] = [
    () => service.getSession(key),
    () => service.getSession({ ...key, config: { numRecentEvents: 1 } }),
    () => service.getSession({ ...key, config: { skipCorrupt: true } }),
    () => service.getSession({ ...key, config: { afterTimestamp: 1 } }),
    () => service.listSessions({ appName: 'shop' }),
    () => service.listSessions({ appName: 'shop', userId: 'damaged', limit: 1, order: 'desc' }),
    () => service.updateState({ ...key, stateDelta: { n: 3, 'user:u': 3, 'app:a': 3 } }),
    () => service.appendEvent({ session, event: textEvent(freshId()) }),
    () => service.getOrCreateSession(key),
    () => service.createSession(key),
  ];
  const outcome = await outcomeOf(random.pick(calls));
  requireTypedError(outcome);
  if (!outcome.isDone) {
    const { code } = outcome.error as { code: string };
    must(CODES.includes(code), 'A damaged record is reported as such.', outcome.error);
  }
  if (outcome.isDone) {
    const text = JSON.stringify(outcome.value) as string | undefined;
    must(!text?.includes('event secret'), 'No other session is read.', outcome.value);
  }
  // The other session keeps working.
  await service.appendEvent({ session: healthy, event: textEvent(freshId()) });
  const read = await service.getSession(healthyKey);
  must(
    read?.events.length === 2 && read.state.well === true,
    'All other data stays readable.',
    read,
  );
  const deleted = await outcomeOf(() => service.deleteSession(key));
  requireTypedError(deleted);
  if (isOnce) must(deleted.isDone, 'A damaged session can be deleted.', deleted);
}

/** All objects with members, at any depth. */
export function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}
