import { requireOneOf } from '../../../values/errors/option_values.js';
import type { Abortable, Session } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { snapshotDelta } from '../../../values/state/delta.js';
import { isShared } from '../../../values/state/scope.js';
import {
  type ReadSessionOptions,
  type SessionFile,
  type StoredSession,
  storedSessionIn,
} from '../format/session_file.js';
import { readSharedState } from './shared_state.js';
import { planState, type SharedState } from './state_plan.js';

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
