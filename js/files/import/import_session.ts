import { isSessionError } from '../../errors/errors.js';
import { kindOf } from '../../json/rules.js';
import { invalid, shown } from '../../call/call.js';
import { type KnownOptions, takeOptions } from '../../service/known_options.js';
import type { Abortable, Session } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';
import { snapshotDelta, snapshotState } from '../../model/snapshot.js';
import { appendInBatches, BATCH, type OnImportProgress, pause } from './append_batches.js';
import { interruptedImport, liveBefore } from './interrupted.js';
import { readingSteps, type ReadSessionOptions, type SessionFile } from '../format/session_file.js';
import { liveState } from './shared_state.js';
import { planState, type SharedState, type StatePlan, touchesShared } from './state_plan.js';
import { withdraw } from './withdraw.js';

/**
 * How a session is imported.
 *
 * @example
 * ```ts
 * import type { ImportSessionOptions } from 'adk-session-wasm/files';
 *
 * const copyForAda: ImportSessionOptions = { userId: 'ada', sessionId: 'copy', sharedState: 'keep' };
 * ```
 */
export interface ImportSessionOptions extends ReadSessionOptions, Abortable {
  /** What becomes of `user:` and `app:` keys. Default `'fill'`: no other session loses a value. */
  sharedState?: SharedState | undefined;
  /** Called after each batch of events, the last one too. */
  onProgress?: OnImportProgress | undefined;
}

/** Characters of a file that is read with pauses. */
const LONG = 500_000;

const OPTIONS: KnownOptions<ImportSessionOptions> = {
  appName: true,
  userId: true,
  sessionId: true,
  timeUnit: true,
  sharedState: true,
  onProgress: true,
  signal: true,
};

/**
 * Stores the session in a file of any of the ADKs; see {@link sessionFromFile} for what is read.
 *
 * The stored session has the file's id (a UUID if it has none), events with their ids, order,
 * timestamps and unknown fields, own state, and `lastUpdateTime`, if that is not before the latest
 * event. `user:` and `app:` keys, in its state and in the deltas of its events, are other sessions' too:
 * by `sharedState` they are added where missing, which is the default, overwritten or left alone.
 * `temp:` keys are dropped, as always.
 *
 * The file is checked before anything is written. Should storing fail halfway, the session is deleted
 * again, and `user:` and `app:` keys get their values back. Events are stored in batches of 500, with a
 * pause after each for the event loop. The session is there from its creation on, and gets its events
 * batch by batch. A process that ends in between leaves a session with the first of them: import the file
 * again, and it gets the others. It is known by the file's `lastUpdateTime` and by the ids of its events.
 * With `sharedState: 'fill'`, `user:` and `app:` keys that have the value of those events are set to the
 * file's. If the second import fails, the session stays as far as it came.
 *
 * @param service of this package; over one that does not take `lastUpdateTime`, that becomes now
 * @param file JSON text, or what it parses to
 * @returns a handle on the stored session
 * @throws SessionError (as a rejection) `already_exists`, nothing being changed; `invalid_argument` with
 *   the `path` of what is wrong in the file, or if the unit of its times cannot be told; what
 *   `createSession` and `appendEvents` reject with
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
  const { signal, sharedState, onProgress, ...reading } = takeOptions(options, OPTIONS);
  requireOnProgress(onProgress);
  const policy = sharedStateOf(sharedState);
  const session = await readInSteps(file, reading);
  const { appName, userId, id, lastUpdateTime } = session;
  const live = touchesShared(session) ? await liveState(service, { appName, userId, signal }) : {};
  const store = async (handle: Session, { events, afterwards }: StatePlan): Promise<Session> => {
    await appendInBatches(service, handle, events, session.events.length, signal, onProgress);
    if (Object.keys(afterwards).length > 0) {
      await service.updateState({ appName, userId, stateDelta: afterwards });
    }
    return handle;
  };
  const plan = planState(session, live, policy);
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
    const half = await interruptedImport(service, session, { signal });
    if (half === undefined) throw error;
    const before = policy === 'fill' ? liveBefore(live, half.events) : live;
    return store(half, planState(session, before, policy));
  }
  try {
    return await store(stored, plan);
  } catch (error) {
    await withdraw(service, stored, live, plan, error);
    throw error;
  }
}

/** Reads and checks the file, with pauses for the event loop if it is a long one. */
async function readInSteps(
  file: string | SessionFile,
  options: ReadSessionOptions,
): Promise<Session> {
  const isLong = isLongFile(file);
  const steps = readingSteps(file, options);
  for (;;) {
    const { done, value } = steps.next();
    if (isLong) await pause();
    if (done !== true) continue;
    requireStorable(value);
    return value;
  }
}

/** Whether reading it takes longer than an append of a batch. */
function isLongFile(file: string | SessionFile | null): boolean {
  if (typeof file === 'string') return file.length > LONG;
  const events = file?.events;
  return Array.isArray(events) && events.length > BATCH;
}

/** @throws SessionError `invalid_argument`, if it is there and no function */
export function requireOnProgress(value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw invalid('onProgress', `must be a function; it is ${kindOf(value)}`);
}

/** @throws SessionError `invalid_argument`, if it is none */
export function sharedStateOf(value: unknown): SharedState {
  if (value === undefined) return 'fill';
  if (value === 'fill' || value === 'overwrite' || value === 'keep') return value;
  throw invalid('sharedState', `must be 'fill', 'overwrite' or 'keep'; it is ${shown(value)}`);
}

/**
 * Makes sure that state and deltas can be stored, before they are compared by their JSON: what is nested
 * too deep would overflow there.
 *
 * @throws SessionError `unserializable` with the path
 */
function requireStorable({ state, events }: Session): void {
  snapshotState(state);
  for (const { actions } of events) snapshotDelta(actions.stateDelta);
}
