// The check of a session's state after everything is sent: each key has a value of one of its last writes.

import { State, type StateShape } from '../../../../js/index.js';
import { isShared } from '../../../../js/state/scope.js';
import { REFUSED } from '../remote.js';
import type { Version } from '../script.js';

/**
 * Checks the session's own keys. The order of keys that sessions share is not fixed.
 *
 * @param versions what was written to the session
 */
export function checkState(session: string, state: StateShape, versions: readonly Version[]): void {
  const keys = new Set(versions.flatMap(({ spec }) => Object.keys(spec.delta)));
  for (const key of keys) {
    if (isShared(key) || key.startsWith('temp:')) continue;
    const writes = versions.filter(({ spec }) => Object.hasOwn(spec.delta, key));
    const certain = writes.filter(isCertain);
    // The session may have been created with a value.
    if (certain.length === 0) continue;
    const last = writes.filter((write) => !certain.some((later) => isBefore(write, later)));
    const values = last.map(({ spec }) => shown(spec.delta[key]));
    const value = Object.hasOwn(state, key) ? shown(state[key]) : shown(State.REMOVED);
    if (values.includes(value)) continue;
    const expected = last.map(({ spec }) => `${shown(spec.delta[key])} by ${spec.id}`);
    throw new Error(
      `${session} has ${key} as ${value}; its last writes are ${expected.join(' or ')}`,
    );
  }
}

/** Whether a version was certainly written, and counts: it was not refused, and no change took its place. */
function isCertain({ spec, event, beganAt, acknowledgedAt }: Version): boolean {
  if (acknowledgedAt === undefined || spec.text.startsWith(REFUSED)) return false;
  return !event.versions.some(
    (later) =>
      later.isChange && (later.acknowledgedAt ?? Infinity) > beganAt && later.spec !== spec,
  );
}

/** Whether a write has arrived at the remote before a later one, because both went the same way or it was there. */
function isBefore({ event, acknowledgedAt = Infinity }: Version, later: Version): boolean {
  const isKnown = event.device === later.event.device || event.device === undefined;
  return isKnown && acknowledgedAt < later.beganAt;
}

function shown(value: unknown): string {
  return value === State.REMOVED ? 'no value' : JSON.stringify(value);
}
