import { optionalTime } from '../model/values/time.js';
import { requireNotAborted } from '../call/call.js';
import { type KnownOptions, takeOptions } from '../call/known_options.js';
import { requireFunction } from '../errors/option_values.js';
import { reportUncaught } from '../call/uncaught.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import { invalid } from '../errors/invalid.js';
import type { DeleteSessionsOptions, DeleteSessionsRequest } from '../model/deletion.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { HostAbortSignal } from '../model/host.js';
import { requireOwner } from '../model/values/ids.js';
import { takeFilter } from '../read/session_filter.js';
import { deleteOldest, type Walk, type WalkedSessions } from './session_walk.js';

const OPTIONS: KnownOptions<DeleteSessionsOptions> = { signal: true, onProgress: true };

/**
 * Deletes the sessions that fulfil a request.
 *
 * @returns the number of deleted sessions
 * @throws SessionError `invalid_argument`, `aborted`, and the codes of the storage
 */
export async function deleteSessions(
  sessions: WalkedSessions,
  request: DeleteSessionsRequest & StorageCall,
  options: DeleteSessionsOptions,
): Promise<number> {
  const { appName, userId, onRetry } = request;
  requireOwner(request);
  const { choose, terms } = takeConditions(request);
  const { signal, onProgress } = takeOptions(options, OPTIONS);
  if (onProgress !== undefined) requireFunction('onProgress', onProgress);
  let deleted = 0;
  const onBatch = (count: number): void => {
    deleted = count;
    try {
      onProgress?.(count);
    } catch (error) {
      reportUncaught(error);
    }
  };
  const step = (): void => requireNotAborted(signal);
  const owner = { appName, userId };
  const call = { signal, onRetry };
  const walk = { owner, call, terms, choose, pause: nextTask, step, onBatch };
  return deleteOldest(sessions, walk).catch((error: unknown) => {
    throw isSessionError(error, 'aborted') && deleted > 0 ? abortedLater(signal, deleted) : error;
  });
}

/**
 * Returns the function that chooses sessions, and terms that they have. The list is by time, so `olderThan` ends
 * it.
 */
function takeConditions({
  olderThan,
  labels,
}: DeleteSessionsRequest): Pick<Walk, 'choose' | 'terms'> {
  // Elsewhere `null` means absent. Here it would delete every session.
  const end = olderThan === undefined ? Infinity : optionalTime('olderThan', olderThan);
  if (end === undefined) throw invalid('olderThan', 'must be a time; it is null');
  const filter = takeFilter({ title: undefined, labels });
  if (labels !== undefined && filter === undefined) {
    throw invalid('labels', 'must name at least one label');
  }
  return {
    terms: filter?.terms,
    choose(session) {
      if (session.lastUpdateTime >= end) return undefined;
      return filter === undefined || filter.admits(undefined, session.labels);
    },
  };
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

function abortedLater(signal: HostAbortSignal | undefined, deleted: number): SessionError {
  const message = `The call was aborted; before that it deleted at least ${deleted} sessions.`;
  return new SessionError('aborted', message, { cause: signal?.reason });
}
