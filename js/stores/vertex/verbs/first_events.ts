/**
 * Computes the postings of the events that a session is created with. The session is created with its last state.
 * Then the server applies the deltas of the events, which change that state again.
 *
 * If the last delta of a key has another value than the last state, the key needs a last change. Only an event can
 * carry it, and an event that is posted again replaces itself. The *carrier* is an event whose own keys need no last
 * change and are not changed by a later event. It is posted once more with the last changes as its delta, and then
 * again as it is.
 */
import { isEqualJson } from '../../../values/json/equal.js';
import type { JsonObject } from '../../../values/json/rules.js';
import { SessionError } from '../../../values/errors/errors.js';
import { isShared, REMOVED } from '../../../values/state/scope.js';
import type { Event } from '../../../values/model/event/event.js';
import type { EventRow } from '../../../core/storage/rows.js';
import { type Posting, postingTimes } from './post_events.js';

/**
 * Returns a function that makes the postings for a session that is created with this state.
 *
 * @throws SessionError `unsupported` if the last changes have no carrier
 */
export function firstPostings(
  rows: readonly EventRow[],
  state: Readonly<Record<string, unknown>>,
  sharesState: boolean | undefined,
): (created: number) => Posting[] {
  const deltas = rows.map(({ text }) => appliedDelta(text, sharesState));
  const changes = lastChanges(deltas, state);
  const carrier = Object.keys(changes).length === 0 ? undefined : rows[carrierOf(deltas, changes)];
  return (created) => {
    const times = postingTimes(rows, created);
    const postings = rows.map(({ id, text }, index) => {
      return { id, text, seq: times[index]!, revision: times[index]! };
    });
    if (carrier === undefined) return postings;
    const { id, text } = carrier;
    const { seq } = postings[rows.indexOf(carrier)]!;
    const last = times.at(-1)!;
    return [
      ...postings,
      { id, text: withDelta(text, changes), seq, revision: last + 1 },
      { id, text, seq, revision: last + 2 },
    ];
  };
}

/** Returns the entries of an event's delta as the server gets them: a removed key is `null`. */
function appliedDelta(text: string, sharesState = true): [string, unknown][] {
  const { actions } = JSON.parse(text) as Event;
  return Object.entries(actions.stateDelta)
    .filter(([key]) => sharesState || !isShared(key))
    .map(([key, value]) => [key, value === REMOVED ? null : value]);
}

/** Returns the values of the state that the deltas overwrite with others. A key that the state lacks is `null`. */
function lastChanges(
  deltas: readonly [string, unknown][][],
  state: Readonly<Record<string, unknown>>,
): JsonObject {
  const changes = [...new Map(deltas.flat())]
    .map(([key, value]) => [key, value, Object.hasOwn(state, key) ? state[key] : null] as const)
    .filter(([, value, last]) => !isEqualJson(value, last))
    .map(([key, , last]) => [key, last]);
  return Object.fromEntries(changes) as JsonObject;
}

/** Returns the index of the event that can carry the changes. */
function carrierOf(deltas: readonly [string, unknown][][], changes: JsonObject): number {
  const keys = new Set(Object.keys(changes));
  const index = deltas.findLastIndex((delta) => {
    const isCarrier = delta.every(([key]) => !keys.has(key));
    for (const [key] of delta) keys.add(key);
    return isCarrier;
  });
  if (index >= 0) return index;
  const message =
    'On Vertex AI the state of a session comes from its events, and no event can carry the changes of stateDelta.';
  throw new SessionError('unsupported', message, { key: 'stateDelta', storage: 'vertexai' });
}

function withDelta(text: string, delta: JsonObject): string {
  const event = JSON.parse(text) as Event;
  event.actions.stateDelta = delta;
  return JSON.stringify(event);
}
