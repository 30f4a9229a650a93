import { isSessionError } from '../../errors/errors.js';
import { kindOf } from '../../json/rules.js';
import { describeValue } from '../../call/call.js';
import { invalid } from '../../errors/invalid.js';
import { type KnownOptions, takeOptions } from '../../call/known_options.js';
import type { Abortable, Session } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';
import { snapshotDelta, snapshotState } from '../../model/snapshot.js';
import {
  appendInBatches,
  BATCH_SIZE,
  type OnImportProgress,
  yieldToEventLoop,
} from './append_batches.js';
import { findInterruptedImport, sharedStateBefore } from './interrupted_import.js';
import {
  readFileInSteps,
  type ReadSessionOptions,
  type SessionFile,
} from '../format/session_file.js';
import { readSharedState } from './shared_state.js';
import { planState, type SharedState, type StatePlan, mayChangeShared } from './state_plan.js';
import { undoImport } from './undo_import.js';

/**
 * Options of {@link importSession}.
 *
 * @example
 * ```ts
 * import type { ImportSessionOptions } from 'adk-session-wasm/files';
 *
 * const copyForAda: ImportSessionOptions = { userId: 'ada', sessionId: 'copy', sharedState: 'keep' };
 * ```
 */
export interface ImportSessionOptions extends ReadSessionOptions, Abortable {
  /** How `user:` and `app:` keys are imported. Default `'fill'`: no existing value is changed. */
  sharedState?: SharedState | undefined;
  /** Called after each batch of events, including the last. */
  onProgress?: OnImportProgress | undefined;
}

/** Length in characters above which a file is read with pauses. */
const LONG_TEXT = 500_000;

const IMPORT_OPTIONS: KnownOptions<ImportSessionOptions> = {
  appName: true,
  userId: true,
  sessionId: true,
  timeUnit: true,
  sharedState: true,
  onProgress: true,
  signal: true,
};

/**
 * Imports the session of a file of any ADK; see {@link sessionFromFile} for the accepted formats.
 *
 * The stored session has the file's id, or a UUID if the file has none. It has the session's own state, and
 * all events with their ids, order, timestamps and unknown fields. It has the file's `lastUpdateTime`, if
 * that is not before the latest event. Other sessions share the `user:` and `app:` keys in its state and in
 * its events' deltas. The option `sharedState` says whether these keys are added if missing (the default),
 * overwritten, or left alone. `temp:` keys are dropped.
 *
 * The file is checked before anything is written. If storing fails halfway, the session is deleted again, and
 * `user:` and `app:` keys get their previous values back. The session exists from its creation on. Its events
 * are stored in batches of 500, with a pause after each for the event loop.
 *
 * If the process ends in between, a session with the first events remains. Import the same file again to
 * store the rest. The import recognises the session by the file's `lastUpdateTime` and by its event ids. With
 * `sharedState: 'fill'`, `user:` and `app:` keys whose values come from those events are then set to the
 * file's values. If the second import fails, the session keeps all events stored so far.
 *
 * @param service a service of this package; a service that does not accept `lastUpdateTime` sets the current
 *   time
 * @param file JSON text or its parsed value
 * @returns a handle on the stored session
 * @throws SessionError (as a rejection) `already_exists`, and nothing is changed; `invalid_argument` with the
 *   `path` of the mistake in the file, or if the unit of its times cannot be inferred; any error of
 *   `createSession` and `appendEvents`
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
  service: BaseSessionService,
  file: string | SessionFile,
  options: ImportSessionOptions = {},
): Promise<Session> {
  const { signal, sharedState, onProgress, ...readOptions } = takeOptions(options, IMPORT_OPTIONS);
  requireOnProgress(onProgress);
  const policy = requireSharedState(sharedState);
  const session = await readInSteps(file, readOptions);
  const { appName, userId, id, lastUpdateTime } = session;
  const storedShared = mayChangeShared(session)
    ? await readSharedState(service, { appName, userId, signal })
    : {};
  const store = async (handle: Session, { events, afterwards }: StatePlan): Promise<Session> => {
    await appendInBatches(service, handle, events, session.events.length, signal, onProgress);
    if (Object.keys(afterwards).length > 0) {
      await service.updateState({ appName, userId, stateDelta: afterwards });
    }
    return handle;
  };
  const plan = planState(session, storedShared, policy);
  let stored: Session;
  try {
    stored = await service.createSession({
      appName,
      userId,
      sessionId: id,
      state: plan.initial,
      lastUpdateTime,
      signal,
    });
  } catch (error) {
    if (!isSessionError(error, 'already_exists')) throw error;
    const interrupted = await findInterruptedImport(service, session, { signal });
    if (interrupted === undefined) throw error;
    const sharedBefore =
      policy === 'fill' ? sharedStateBefore(storedShared, interrupted.events) : storedShared;
    return store(interrupted, planState(session, sharedBefore, policy));
  }
  try {
    return await store(stored, plan);
  } catch (error) {
    await undoImport(service, stored, storedShared, plan, error);
    throw error;
  }
}

/** Reads and checks the file, with pauses for the event loop if the file is long. */
async function readInSteps(
  file: string | SessionFile,
  options: ReadSessionOptions,
): Promise<Session> {
  const isLong = isLongFile(file);
  const steps = readFileInSteps(file, options);
  for (;;) {
    const { done, value } = steps.next();
    if (isLong) await yieldToEventLoop();
    if (done !== true) continue;
    requireStorable(value);
    return value;
  }
}

/** Returns whether reading the file takes longer than appending a batch. */
function isLongFile(file: string | SessionFile | null): boolean {
  if (typeof file === 'string') return file.length > LONG_TEXT;
  const events = file?.events;
  return Array.isArray(events) && events.length > BATCH_SIZE;
}

/**
 * Checks the option `onProgress`.
 *
 * @throws SessionError `invalid_argument` if it is given and not a function
 */
export function requireOnProgress(value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw invalid('onProgress', `must be a function; it is ${kindOf(value)}`);
}

/**
 * Returns the option `sharedState`, or its default.
 *
 * @throws SessionError `invalid_argument` for any other value
 */
export function requireSharedState(value: unknown): SharedState {
  if (value === undefined) return 'fill';
  if (value === 'fill' || value === 'overwrite' || value === 'keep') return value;
  throw invalid(
    'sharedState',
    `must be 'fill', 'overwrite' or 'keep'; it is ${describeValue(value)}`,
  );
}

/**
 * Makes sure that the state and the deltas can be stored. This comes before they are compared as JSON: too
 * deep a value would overflow the stack there.
 *
 * @throws SessionError `unserializable` with the path
 */
function requireStorable({ state, events }: Session): void {
  snapshotState(state);
  for (const { actions } of events) snapshotDelta(actions.stateDelta);
}
