import { optionalTime, requireTime } from '../values/model/values/time.js';
import { invalidValue } from '../values/errors/invalid.js';
import { requireOneOf } from '../values/errors/option_values.js';
import { firstTitleOf } from '../values/model/event/auto_title.js';
import {
  type Expiry,
  takeDescription,
  takeExpiry,
  takeParent,
} from '../values/model/description.js';
import { isBlank, requireId, requireUser } from '../values/model/values/ids.js';
import type { WriteIdentity } from '../values/model/diagnostic.js';
import type { ImportedSessionRequest } from '../values/model/session.js';
import { type EventSnapshot, snapshotEvent } from '../values/model/event/snapshot.js';
import { isStored } from '../values/model/event/stored.js';
import { snapshotDelta } from '../values/state/delta.js';
import { type StateSchema, validateDelta } from '../values/state/state_schema.js';
import type { CreateWrite } from '../core/write.js';

/** What a service adds to a request to create a session. */
interface NewSessionParts extends Pick<CreateWrite, 'ifAbsent'> {
  readonly schema: StateSchema | undefined;
  readonly autoTitle: boolean;
  /** Whether sessions can expire. */
  readonly expires: boolean;
  readonly clock: () => number;
  readonly newId: () => string;
}

/**
 * Takes a request to create a session. Later changes of the caller's objects change nothing.
 *
 * @throws SessionError `invalid_argument`, `unserializable`, `schema_violation`
 */
export function takeNewSession<S extends object>(
  request: ImportedSessionRequest<S> & Expiry & WriteIdentity,
  { ifAbsent, schema, autoTitle, expires, clock, newId }: NewSessionParts,
): CreateWrite {
  const { appName, userId, sessionId, lastUpdateTime, mutation, sharedState = 'apply' } = request;
  requireUser(request);
  const id = isBlank(sessionId) ? newId() : requireId('sessionId', sessionId);
  const state = snapshotDelta(request.state ?? undefined, 'state');
  if (schema !== undefined) validateDelta(schema, state.delta);
  const events: EventSnapshot[] = [];
  for (const event of eventsOf(request)) {
    if (!isStored(event)) continue;
    const snapshot = snapshotEvent(event, clock, newId);
    if (schema !== undefined) validateDelta(schema, snapshot.callerDelta ?? snapshot.delta);
    events.push(snapshot);
  }
  const last = snapshotDelta(request.stateDelta ?? undefined);
  if (schema !== undefined) validateDelta(schema, last.delta);
  const given = takeDescription(request);
  if (request.initialState !== undefined) {
    requireOneOf('initialState', request.initialState, ['unknown']);
  }
  // If no state is given, the events may still come from a session that began with one.
  const isKnown =
    request.initialState === undefined && (Boolean(request.state) || events.length === 0);
  return {
    kind: 'create',
    key: { appName, userId, sessionId: id },
    state: state.text,
    events,
    delta: last.text,
    description: {
      title: given.title ?? (autoTitle ? firstTitleOf(events) : undefined),
      labels: given.labels,
      parent: takeParent(request.parent),
      initialState: isKnown ? state.text : undefined,
      expiry: takeExpiry(request, expires),
    },
    lastUpdateTime: optionalTime('lastUpdateTime', lastUpdateTime),
    now: requireTime('the clock', clock()),
    sharesState: requireOneOf('sharedState', sharedState, ['apply', 'keep']) === 'apply',
    ifAbsent,
    mutation,
  };
}

function eventsOf({ events }: { events?: unknown }): readonly never[] {
  if (events === undefined || events === null) return [];
  if (Array.isArray(events)) return [...(events as never[])];
  throw invalidValue('events', 'must be an array', events);
}
