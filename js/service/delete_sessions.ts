import { optionalTime } from '../values/model/values/time.js';
import { type Call, requireNotAborted, takeOptions } from '../core/call/call.js';
import { requireFunction } from '../values/errors/option_values.js';
import { reportUncaught } from '../core/call/diagnostics.js';
import { isSessionError, SessionError } from '../values/errors/errors.js';
import { invalid } from '../values/errors/invalid.js';
import type { DeleteSessionsOptions, DeleteSessionsRequest } from '../values/model/session_list.js';
import type { HostAbortSignal } from '../values/model/host.js';
import { requireOwner } from '../values/model/values/ids.js';
import { takeFilter } from './read/session_filter.js';
import type { ListedSession } from '../core/storage/store.js';

/** The sessions of one page. A page is read without a pause, so it must not take long. */
const PAGE = 100;

/** The milliseconds of work after which others get their turn. */
const SLICE_MS = 10;

/** A session that may be deleted if it has not changed. A damaged one has no revision. */
export type DeletableSession = Pick<ListedSession, 'userId' | 'sessionId' | 'labels'> & {
  readonly revision: number | undefined;
};

/** What deletions need of a service. */
export interface DeletableSessions {
  /** Lists the sessions after a place, those that were updated first. It may list more than `limit`. */
  list(
    owner: { readonly appName: string; readonly userId: string | undefined },
    page: { readonly limit: number; readonly after: ListedSession | undefined },
    call: Call,
  ): Promise<readonly ListedSession[]>;
  /** Deletes a session if it has not changed since it was listed. Returns whether it was deleted. */
  deleteUnchanged(appName: string, session: DeletableSession, call: Call): Promise<boolean>;
}

/**
 * Deletes the sessions that fulfil a request, oldest first. Each deletion is one transaction, and deletes only a
 * session that has not changed since it was listed. A session that is updated meanwhile moves to a place that is
 * yet to come.
 *
 * @returns the number of deleted sessions
 * @throws SessionError `invalid_argument`, `aborted`, and the codes of the storage
 */
export async function deleteSessions(
  sessions: DeletableSessions,
  request: DeleteSessionsRequest,
  options: DeleteSessionsOptions,
  given: Call,
): Promise<number> {
  const { appName, userId } = request;
  requireOwner(request);
  // The key of one session fits the type. It would delete all sessions of the user.
  if ('sessionId' in request)
    throw invalid('sessionId', 'is not for deleteSessions; use deleteSession');
  const choose = takeConditions(request);
  const { signal, onProgress } = takeOptions(options);
  if (onProgress !== undefined) requireFunction('onProgress', onProgress);
  const call = { ...given, signal };
  const turn = turns();
  let deleted = 0;
  let after: ListedSession | undefined;
  try {
    for (;;) {
      requireNotAborted(signal);
      const page = await sessions.list({ appName, userId }, { limit: PAGE, after }, call);
      for (const session of page) {
        requireNotAborted(signal);
        const isChosen = choose(session);
        if (isChosen === undefined) return deleted;
        if (isChosen && (await sessions.deleteUnchanged(appName, session, call))) {
          deleted += 1;
          if (deleted % PAGE === 0) report(onProgress, deleted);
        }
        await turn();
      }
      if (page.length < PAGE) return deleted;
      after = page.at(-1);
    }
  } catch (error) {
    throw isSessionError(error, 'aborted') && deleted > 0 ? abortedLater(signal, deleted) : error;
  } finally {
    if (deleted % PAGE > 0) report(onProgress, deleted);
  }
}

function report(onProgress: DeleteSessionsOptions['onProgress'], deleted: number): void {
  try {
    onProgress?.(deleted);
  } catch (error) {
    reportUncaught(error);
  }
}

/**
 * Returns the function that chooses sessions. It returns `undefined` if no later session of the list fulfils the
 * request: the list is by time, so `olderThan` ends it.
 */
function takeConditions({
  olderThan,
  labels,
}: DeleteSessionsRequest): (session: ListedSession) => boolean | undefined {
  // Elsewhere `null` means absent. Here it would delete every session.
  const end = olderThan === undefined ? Infinity : optionalTime('olderThan', olderThan);
  if (end === undefined) throw invalid('olderThan', 'must be a time; it is null');
  const filter = takeFilter({ title: undefined, labels });
  if (labels !== undefined && filter === undefined) {
    throw invalid('labels', 'must name at least one label');
  }
  return (session) => {
    if (session.lastUpdateTime >= end) return undefined;
    return filter === undefined || filter.admits(undefined, session.labels);
  };
}

/** Returns a function that lets others run once enough work was done since the last pause. */
function turns(): () => Promise<void> | undefined {
  let begin = performance.now();
  return () => {
    if (performance.now() - begin < SLICE_MS) return undefined;
    return new Promise<void>((resolve) => setTimeout(resolve)).then(() => {
      begin = performance.now();
    });
  };
}

function abortedLater(signal: HostAbortSignal | undefined, deleted: number): SessionError {
  const message = `The call was aborted; before that it deleted at least ${deleted} sessions.`;
  return new SessionError('aborted', message, { cause: signal?.reason });
}
