/** Imports a session from a file. */
import { foldState } from '../../core/history/rules/fold.js';
import { requireOneOf } from '../../values/errors/option_values.js';
import { isEqualJson } from '../../values/json/equal.js';
import type { Abortable, AppRequest, UserRequest, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { requireId } from '../../values/model/values/ids.js';
import { snapshotDelta } from '../../values/state/delta.js';
import { joinScopes, splitByScope } from '../../values/state/keys.js';
import { SHARED_SCOPES, type SharedScope, isShared, REMOVED } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import {
  type StoredSession,
  type ReadSessionOptions,
  type SessionFile,
  storedSessionIn,
} from './session_file.js';

/** Options of {@link importSession}. */
export interface ImportSessionOptions extends ReadSessionOptions, Abortable {
  /** How `user:` and `app:` keys are imported. Default `'fill'`: no existing value is changed. */
  sharedState?: SharedState | undefined;
}

/**
 * Imports the session of a file of any ADK; see `sessionFromFile` for the accepted formats.
 *
 * The stored session has the file's id, or a UUID if the file has none. It has the session's own state, and
 * all events with their ids, order, timestamps and unknown fields. It has the file's `lastUpdateTime`, if
 * that is not before the latest event. Other sessions share the `user:` and `app:` keys in its state and in
 * its events' deltas. The option `sharedState` says whether these keys are added if missing (the default), or
 * left alone. `temp:` keys are dropped.
 *
 * The file is checked before anything is written. The session is stored by one `createSession` with its events:
 * no reader finds a part of it, and after a crash it is there whole or not at all. Vertex AI has no
 * transactions. There a failed import deletes the session again, and a crash may leave a session with the first
 * events.
 *
 * @param service a service of this package; a service that does not accept `lastUpdateTime` sets the current
 *   time
 * @param file JSON text or its parsed value, which must not change before the promise settles
 * @returns a handle on the stored session
 * @throws SessionError (as a rejection) `already_exists`, and nothing is changed; `invalid_argument` with the
 *   `path` of the mistake in the file, or if the unit of its times cannot be inferred; any error of
 *   `createSession`
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { importSession } from 'adk-session-wasm/files';
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService();
 * const text = await readFile('recorded-in-python.session.json', 'utf8');
 * const session = await importSession(service, text, { userId: 'ada' });
 * console.log(`${session.events.length} events`);
 * ```
 */
export async function importSession(
  service: SessionService,
  file: string | SessionFile,
  options: ImportSessionOptions = {},
): Promise<Session> {
  const { signal, sharedState = 'fill', ...readOptions } = options;
  requireOneOf('sharedState', sharedState, ['fill', 'keep']);
  const stored = storedSessionIn(file, readOptions);
  requireStorable(stored);
  const { appName, userId, id: sessionId, ...session } = stored.session;
  const mayFill = sharedState === 'fill' && Object.keys(session.state).some(isShared);
  const storedShared = mayFill ? await readSharedState(service, { appName, userId, signal }) : {};
  return service.createSession({
    ...session,
    ...planState(stored, storedShared, sharedState),
    appName,
    userId,
    sessionId,
    signal,
  });
}

/** Reads the `user:` and `app:` keys of a user from a service, with their prefixes. */
async function readSharedState(
  service: SessionService,
  { appName, userId, signal }: UserRequest & Abortable,
): Promise<StateShape> {
  const states = SHARED_SCOPES.map(
    async (scope) => [scope, await readState(service, scope, { appName, userId, signal })] as const,
  );
  return joinScopes(Object.fromEntries(await Promise.all(states)));
}

/** Reads the state of a scope from a service. Its keys have no prefix. */
export function readState(
  service: SessionService,
  scope: SharedScope,
  { appName, userId, signal }: AppRequest & Abortable & { readonly userId?: string | undefined },
): Promise<StateShape> {
  switch (scope) {
    case 'app':
      return service.getAppState({ appName, signal });
    case 'user':
      return service.getUserState({ appName, userId: requireId('userId', userId), signal });
  }
}

// Plans how an import reaches the state of a file.
//
// The events alone may produce another state than the file has. `user:` and `app:` keys may have been changed
// by another session. The session's own keys may have been edited by hand, or an event was replaced later.
// The creation gets the difference as its `stateDelta`.

/**
 * How an import changes `user:` and `app:` keys, which other sessions see too.
 *
 * - `'fill'`: keys that the store does not have are set; existing keys stay. The import reads the stored keys before it
 *   writes. If another program first sets a key in between, the file's value replaces it.
 * - `'keep'`: no key is changed.
 */
export type SharedState = 'fill' | 'keep';

/** The members that reach the state of a file; see `CreateSessionRequest`. */
interface StatePlan {
  readonly state: StateShape;
  readonly initialState: 'unknown' | undefined;
  readonly stateDelta: StateShape;
  readonly sharedState: 'keep';
}

/**
 * Returns the members of a request to create the session of a file.
 *
 * @param storedShared the `user:` and `app:` keys that the store has
 */
function planState(
  { session, initialState: known }: StoredSession,
  storedShared: Readonly<StateShape>,
  policy: SharedState,
): StatePlan {
  const state = splitByScope(known ?? initialState(session)).session;
  const stateDelta = deltaBetween(
    splitByScope(foldState(state, session.events)).session,
    splitByScope(session.state).session,
  );
  for (const [key, value] of Object.entries(session.state)) {
    const isMissing = isShared(key) && !Object.hasOwn(storedShared, key);
    if (isMissing && policy === 'fill') stateDelta.set(key, value);
  }
  // The events' own values of shared keys are older than those of the file.
  const isKnown = known !== undefined || session.events.length === 0;
  return {
    state,
    initialState: isKnown ? undefined : 'unknown',
    stateDelta: Object.fromEntries(stateDelta),
    sharedState: 'keep',
  };
}

/**
 * Returns the state that a session must have had before its first event, without `temp:` keys: the keys of its state
 * that no delta of its events sets or removes.
 */
export function initialState({ state, events }: Pick<Session, 'state' | 'events'>): StateShape {
  const changed = new Set(events.flatMap(({ actions }) => Object.keys(actions.stateDelta)));
  return Object.fromEntries(Object.entries(state).filter(([key]) => !changed.has(key)));
}

/** Returns the delta that turns one state into the other. */
function deltaBetween(from: Readonly<StateShape>, to: Readonly<StateShape>): Map<string, unknown> {
  const delta = new Map<string, unknown>();
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key)) delta.set(key, REMOVED);
  }
  for (const [key, value] of Object.entries(to)) {
    if (!Object.hasOwn(from, key) || !isEqualJson(from[key], value)) delta.set(key, value);
  }
  return delta;
}

/**
 * Makes sure that the state and the deltas can be stored. This comes before they are compared as JSON: too
 * deep a value would overflow the stack there.
 *
 * @throws SessionError `unserializable` with the path
 */
function requireStorable({ session: { state, events }, initialState }: StoredSession): void {
  snapshotDelta(state, 'state');
  snapshotDelta(initialState, 'initialState');
  for (const { actions } of events) snapshotDelta(actions.stateDelta);
}
