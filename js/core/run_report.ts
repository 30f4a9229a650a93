/**
 * What a server's feed sends of runs, beside its notices. The feed's log does not keep reports: a feed that is opened
 * again begins with the whole drafts.
 */
import type { PublicError } from '../values/errors/public_error.js';
import { utf8Length } from '../values/json/text.js';
import type { Event } from '../values/model/event/event.js';
import { partsOf } from '../values/model/event/parts.js';
import type { CompositeSessionKey } from '../values/model/session.js';

/** An answer that is being streamed. */
export interface Draft {
  /** The partial events that have come so far, as one event. Its id stays, so that a view keeps its element. */
  readonly event: Event;
  /** The id of the whole event that has ended the draft. The draft is shown until that event is shown. */
  readonly endedBy?: string | undefined;
}

/** The most bytes of draft text that are kept of a failed run. */
const MAX_DRAFT_BYTES = 2 ** 16;

/**
 * Returns the drafts that are kept of a run: all while it runs; once it has failed, what was streamed of answers that
 * are not stored; otherwise none, since the texts are stored as events.
 */
export function keptDrafts({
  status,
  drafts,
}: Pick<RunReport, 'status' | 'drafts'>): readonly Draft[] {
  if (status === 'running') return drafts;
  if (status !== 'failed') return [];
  const open = drafts.filter(({ endedBy }) => endedBy === undefined);
  const parts = open.flatMap(({ event }) => partsOf(event));
  const sizes = parts.map((part) => utf8Length(part.text ?? JSON.stringify(part)));
  return sizes.reduce((sum, size) => sum + size, 0) <= MAX_DRAFT_BYTES ? open : [];
}

/** Which run of a server it is. The numbers of one start of the server grow. */
export interface ServerRunId {
  /** Names the start of the server's process. */
  readonly start: string;
  readonly number: number;
}

/** A run of a session as it is now. */
export interface RunReport extends CompositeSessionKey {
  /** See {@link ServerRunId}. Absent from servers that do not tell it. */
  readonly number?: number | undefined;
  readonly messageId: string;
  readonly invocationId: string;
  readonly status: 'running' | 'ended' | 'failed' | 'cancelled';
  /** The answers that the run streams; `endedBy` is the id of the whole event that has ended one. */
  readonly drafts: readonly Draft[];
  /** The ids of the run's whole events so far. Drafts that have not ended come after them. */
  readonly wholes: readonly string[];
  readonly error?: PublicError | undefined;
}

/**
 * Gets the run of a session as it is now; `undefined` if the server has no run to report.
 *
 * @param isKnown `false`: the server has ended the feed, for example because a login has expired. Nobody knows what
 *   runs
 */
export type ReportListener = (report: RunReport | undefined, isKnown: boolean) => void;

/** A draft that has changed since the last report of its run. */
export type DraftChange =
  /** The draft as it is now. */
  | { readonly index: number; readonly draft: Draft }
  /** What was added to the text of its last part. */
  | { readonly index: number; readonly text: string };

/** A report that follows another one of the same run, with what has changed. */
export type RunChange = Omit<RunReport, 'drafts'> & { readonly changes: readonly DraftChange[] };
