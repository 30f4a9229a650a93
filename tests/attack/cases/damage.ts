// The rules for a damaged record of a session: the call fails with a typed error, and all other data keeps working.

import type { SessionService, Session } from 'adk-session-wasm';
import fc from 'fast-check';
import { must, outcomeOf, requireTypedError } from './oracle.js';
import { define } from './values.js';
import { freshId, textEvent } from './world.js';

/** Wrong values for a number or a string. */
export const WRONG_VALUES: readonly unknown[] = [
  null, undefined, '', ' ', '{', '{}', '[]', '[null]', 'null', '7', '"text"', '{"a":', '{"__proto__":{"a":1}}', '{"id":7}', '{"actions":null}',
  '{"actions":{"stateDelta":[]}}', '\0', '\ud800', 'x'.repeat(70_000), `${'['.repeat(2000)}${']'.repeat(2000)}`, -1, 0, 0.5, NaN, Infinity,
  -Infinity, 2 ** 53, 2 ** 64, 1e300, true, {}, [], [null], 'not a time', '9999-99-99 99:99:99', '2020-01-01', 1n,
]; // prettier-ignore

export const healthyKey = { appName: 'office', userId: 'healthy', sessionId: 's1' };
const key = { appName: 'shop', userId: 'damaged', sessionId: 's1' };

const CODES = ['corrupt_record', 'storage_failed', 'not_found', 'already_exists', 'quota_exceeded'];

const CALLS: ((service: SessionService, session: Session) => unknown)[] = [
  (service) => service.getSession(key),
  (service) => service.getSession({ ...key, config: { numRecentEvents: 1 } }),
  (service) => service.getSession({ ...key, config: { skipCorrupt: true } }),
  (service) => service.getSession({ ...key, config: { afterTimestamp: 1 } }),
  (service) => service.listSessions({ appName: 'shop' }),
  (service) =>
    service.listSessions({ appName: 'shop', userId: 'damaged', limit: 1, order: 'desc' }),
  (service) => service.updateState({ ...key, stateDelta: { n: 3, 'user:u': 3, 'app:a': 3 } }),
  (service, session) => service.appendEvent({ session, event: textEvent(freshId()) }),
  (service) => service.getOrCreateSession(key),
  (service) => service.createSession(key),
];

/** How a session is written before the damage, and the call that reads it afterwards. */
export const damagedSession = fc.record({
  // IndexedDB stores the events of one call in one record.
  together: fc.constantFrom(1, 20),
  single: fc.nat(3),
  call: fc.constantFrom(...CALLS),
});

export type DamagedSession = typeof damagedSession extends fc.Arbitrary<infer T> ? T : never;

/**
 * @param damage damages a record of the user `damaged`, or of the app
 * @param options `isOnce`: only the next read finds the damage
 */
export async function damagedCase(
  service: SessionService,
  { together, single, call }: DamagedSession,
  damage: () => void | Promise<void>,
  { isOnce }: { readonly isOnce: boolean },
): Promise<void> {
  const healthy = await service.createSession({ ...healthyKey, state: { well: true } });
  await service.appendEvent({ session: healthy, event: textEvent('secret') });
  const state = { n: 1, 'user:u': 1, 'app:a': 1 };
  const session = await service.createSession({ ...key, state });
  const events = Array.from({ length: together }, () => textEvent(freshId()));
  await service.appendEvents({ session, events });
  for (let count = single; count > 0; count -= 1) {
    await service.appendEvent({ session, event: textEvent(freshId()) });
  }
  await service.updateState({ ...key, stateDelta: { n: 2, 'user:u': 2, 'app:a': 2 } });
  await damage();
  const outcome = await outcomeOf(() => call(service, session));
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

/** A wrong value for a member: the numbers of the object and of its member count round. */
export const damages = fc.record({
  object: fc.nat(1000),
  member: fc.nat(1000),
  value: fc.constantFrom(...WRONG_VALUES),
});
export type Damage = typeof damages extends fc.Arbitrary<infer T> ? T : never;

/** Changes a member at any depth. */
export function damageIn(root: object, { object, member, value }: Damage): void {
  const objects = objectsIn(root);
  const target = objects[object % objects.length]!;
  const names = Object.keys(target);
  define(target, names[member % names.length]!, value);
}

/** All objects with members. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}
