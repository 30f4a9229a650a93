/**
 * What a process knows of the runs of other processes: only what is stored. A message has a mark, which says what start of
 * the server runs it, and since when.
 *
 * | the newest message | with `'many'` | with `'one'` |
 * |---|---|---|
 * | has no mark, or one of this start | nothing runs elsewhere | the same |
 * | has an answer, an open question or an end | nothing runs elsewhere, so far as is stored | the same |
 * | another start, for less than a run may take | its run may be under way | it is over: an earlier process began it |
 * | another start, for longer | its run is over, or ended by the next message | the same |
 *
 * A mark that began after this process proves that there are several: from then on `'one'` counts as `'many'`.
 */
import { runMarkOf } from '../../values/model/event/metadata.js';
import type { Event } from '../../values/model/event/event.js';
import { isStopped } from '../../values/model/event/shown.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { readNewestEvents } from '../../service/runs/agent/newest_events.js';
import { newestMessage, storedStatus } from '../../service/runs/agent/run_status.js';

/**
 * Milliseconds beyond the time limit of a run in which another process may still run it: it has to end, and clocks
 * differ. Tests that kill processes make it shorter.
 */
export const margin = { ms: 30_000 };

/** A message whose run another start has begun, and of whose stored events none tells an answer or an end. */
export interface RunElsewhere {
  readonly message: Event;
  /** The start of the process that has begun the run. */
  readonly start: string;
  /** See `RunMark`. */
  readonly hasChannel: boolean;
  /** The milliseconds for which the run may still be under way; 0 if it is over. */
  readonly leftMs: number;
}

/** What a process knows of itself. */
export interface OwnStart {
  /** Names it; see `ServerRunId`. */
  readonly start: string;
  /** Its time in milliseconds when it began. */
  readonly startedAt: number;
  /** The time limit of its runs in milliseconds. Other processes have the same. */
  readonly maxRunMs: number;
  readonly isOneOfMany: boolean;
}

/**
 * Returns the run of the newest message, if another process has begun it and may still answer it.
 *
 * @param events the last events of a session, with the newest message
 */
export function runElsewhere(
  events: readonly Event[],
  { start, maxRunMs, isOneOfMany }: OwnStart,
  now: number,
): RunElsewhere | undefined {
  const message = newestMessage(events);
  const mark = message && runMarkOf(message);
  if (!isOneOfMany || mark === undefined || mark.start === start) return undefined;
  const { invocationId } = message!;
  const hasEnd = events.some((event) => event.invocationId === invocationId && isStopped(event));
  if (hasEnd || storedStatus(events)?.status !== 'unanswered') return undefined;
  const age = Math.max(0, now - mark.began);
  const leftMs = Math.max(0, maxRunMs + margin.ms - age);
  return { message: message!, start: mark.start, hasChannel: mark.hasChannel, leftMs };
}

/** Whether the newest message proves that another process runs agents beside this one. */
export function provesOther(
  events: readonly Event[],
  { start, startedAt }: Pick<OwnStart, 'start' | 'startedAt'>,
): boolean {
  const message = newestMessage(events);
  const mark = message && runMarkOf(message);
  return mark !== undefined && mark.start !== start && mark.began > startedAt;
}

/** The events of a session from its newest message on, or all of them, and its revision. */
export interface NewestTurn {
  readonly events: readonly Event[];
  /** Absent: the service has no revisions. */
  readonly revision: number | undefined;
}

/** Reads the newest turn of a session; `undefined` if there is no such session. */
export async function readNewestTurn(
  service: SessionService,
  key: CompositeSessionKey,
): Promise<NewestTurn | undefined> {
  for await (const { session, events, isWhole } of readNewestEvents(service, key)) {
    if (isWhole || newestMessage(events) !== undefined) {
      return { events, revision: service.revisionOf(session) };
    }
  }
  return undefined;
}
