/** Stores the events of an import in batches, with a pause after each, so that the event loop goes on. */
import { SessionError } from '../../errors/errors.js';
import type { Event } from '../../model/event.js';
import { messageOf } from '../../json/rules.js';
import type { Session } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';

/**
 * How far the import of a session is.
 *
 * @example
 * ```ts
 * import type { ImportProgress } from 'adk-session-wasm/files';
 *
 * const percent = ({ stored, total }: ImportProgress): number => (100 * stored) / total;
 * ```
 */
export interface ImportProgress {
  readonly sessionId: string;
  /** How many of its events are stored. */
  readonly stored: number;
  readonly total: number;
}

/** Is told of the progress of an import, which waits for it. What it throws or rejects with ends the import. */
export type OnImportProgress = (progress: ImportProgress) => void | Promise<void>;

/** Events to append at once. Over memory they take some milliseconds. */
export const BATCH = 500;

/** The last events of a plan belong together: a carrier, loaded and as it is. */
const INSEPARABLE = 2;

/**
 * @param events all that are to be stored; those that `session` has are passed over
 * @param total how many events the file has; a plan may store one of them more than once
 * @throws SessionError (as a rejection) what `appendEvents` rejects with; `invalid_argument` if
 *   `onProgress` throws or rejects
 */
export async function appendInBatches(
  service: BaseSessionService,
  session: Session,
  events: readonly Event[],
  total: number,
  signal: AbortSignal | undefined,
  onProgress: OnImportProgress | undefined,
): Promise<void> {
  const first = session.events.length;
  for (let at = first; at < events.length;) {
    if (at > first) await pause();
    const end = events.length - at <= BATCH + INSEPARABLE ? events.length : at + BATCH;
    await service.appendEvents({ session, events: events.slice(at, end), signal });
    at = end;
    await tell(onProgress, { sessionId: session.id, stored: Math.min(at, total), total });
  }
}

async function tell(
  onProgress: OnImportProgress | undefined,
  progress: ImportProgress,
): Promise<void> {
  try {
    await onProgress?.(progress);
  } catch (cause) {
    const message = `onProgress failed, which ended the import: ${messageOf(cause)}`;
    throw new SessionError('invalid_argument', message, { key: 'onProgress', cause });
  }
}

/** Lets timers, input and painting have their turn. Browsers delay chains of timers, but no messages. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
