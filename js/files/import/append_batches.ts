/** Stores the events of an import in batches, with a pause after each, so that the event loop can run. */
import type { HostAbortSignal } from '../../model/host.js';
import { SessionError } from '../../errors/errors.js';
import type { Event } from '../../model/event.js';
import { messageOf } from '../../json/rules.js';
import type { Session } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';

/**
 * The progress of importing one session.
 *
 * @example
 * ```ts
 * import type { ImportProgress } from 'adk-session-wasm/files';
 *
 * const percent = ({ stored, total }: ImportProgress): number => (100 * stored) / total;
 * ```
 */
export interface ImportProgress {
  /** The session that is imported. */
  readonly sessionId: string;
  /** Number of its events that are stored. */
  readonly stored: number;
  /** The number of its events. */
  readonly total: number;
}

/**
 * Receives the progress of an import, which waits for its promise. If it throws or rejects, the import ends.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { importSession, type OnImportProgress } from 'adk-session-wasm/files';
 *
 * const file = { appName: 'shop', userId: 'ada', id: 's1', events: [] };
 * const show: OnImportProgress = ({ stored, total }) => console.log(`${stored} of ${total}`);
 * await importSession(new InMemorySessionService(), file, { onProgress: show });
 * ```
 */
export type OnImportProgress = (progress: ImportProgress) => void | Promise<void>;

/** Number of events in a batch. Over memory a batch takes a few milliseconds. */
export const BATCH_SIZE = 500;

/**
 * Number of events at the end of a plan that must be in one batch: both versions of a carrier, see
 * `state_plan.ts`.
 */
const INSEPARABLE = 2;

/**
 * Appends the events that the session does not have yet.
 *
 * @param events all events of the plan; those that `session` already has are skipped
 * @param total number of events in the file; a plan may store one of them more than once
 * @throws SessionError (as a rejection) any error of `appendEvents`; `invalid_argument` if `onProgress`
 *   throws or rejects
 */
export async function appendInBatches(
  service: BaseSessionService,
  session: Session,
  events: readonly Event[],
  total: number,
  signal: HostAbortSignal | undefined,
  onProgress: OnImportProgress | undefined,
): Promise<void> {
  const first = session.events.length;
  for (let at = first; at < events.length;) {
    if (at > first) await yieldToEventLoop();
    const end = events.length - at <= BATCH_SIZE + INSEPARABLE ? events.length : at + BATCH_SIZE;
    await service.appendEvents({ session, events: events.slice(at, end), signal });
    at = end;
    await reportProgress(onProgress, { sessionId: session.id, stored: Math.min(at, total), total });
  }
}

async function reportProgress(
  onProgress: OnImportProgress | undefined,
  progress: ImportProgress,
): Promise<void> {
  try {
    await onProgress?.(progress);
  } catch (cause) {
    const message = `onProgress ended the import: ${messageOf(cause)}`;
    throw new SessionError('invalid_argument', message, { key: 'onProgress', cause });
  }
}

/**
 * Lets timers, input and painting run. It uses a message, because browsers delay chains of timers but not
 * messages.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
