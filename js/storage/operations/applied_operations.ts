/**
 * The answers to a write that a storage has applied before: a late request, or one that was sent twice. It changes
 * nothing.
 */
import { after, type MaybePromise, recovered } from '../../call/call.js';
import { isSessionError, SessionError } from '../../errors/errors.js';
import type { StorageOperation } from '../../model/diagnostic.js';
import {
  NO_REVISIONS,
  type Appended,
  type AppendRequest,
  type CreatedSession,
  type Deletion,
  type ReadSession,
  type SharedRevisions,
} from '../backend.js';

/** The last operation of a client that a storage has applied. */
export interface AppliedOperation {
  readonly number: number;
  /** The revision at which its session was created; {@link UNKNOWN}, or {@link DELETED}. */
  readonly created: number;
}

/** The operation did not tell when its session was created. */
export const UNKNOWN = 0;
/** The operation deleted its session, so no later session of that id is its own. */
export const DELETED = -1;

/** How long a storage keeps the last operation of a client, in milliseconds: 30 days. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** The most clients whose operations on one session, or on one shared state, are kept. */
export const MOST_CLIENTS = 32;

const createdOf = new WeakMap<SessionError, number>();

/** @throws SessionError if the storage has applied this operation of the client, or a later one */
export function refuseApplied(
  operation: StorageOperation,
  applied: AppliedOperation | undefined,
): void {
  if (applied === undefined || operation.number > applied.number) return;
  const error = ownSessionGone();
  createdOf.set(error, applied.created);
  throw error;
}

function ownSessionGone(cause?: unknown): SessionError {
  const message = 'The write was applied before, and its session was deleted since.';
  return new SessionError('not_found', message, { operation: 'applied', cause });
}

/** Runs a write. If the storage has applied it before, `answer` makes the result. */
function unlessApplied<T>(
  write: () => MaybePromise<T>,
  answer: (created: number, error: SessionError) => MaybePromise<T>,
): MaybePromise<T> {
  return recovered(write, (error) => {
    const created = createdOf.get(error as SessionError);
    if (created === undefined) throw error;
    return answer(created, error as SessionError);
  });
}

/** Answers an append that was applied before with what its handle lacks. */
export function appendOnce(
  append: (request: AppendRequest) => MaybePromise<Appended>,
  request: AppendRequest,
): MaybePromise<Appended> {
  if (request.operation === undefined) return append(request);
  const gone = (cause: unknown): never => {
    throw isSessionError(cause, 'not_found') ? ownSessionGone(cause) : cause;
  };
  return unlessApplied(
    () => append(request),
    (created, error) => {
      if (created === DELETED) throw error;
      return recovered(() => {
        return after(catchUp(append, request), (appended) => {
          if (isOwn(created, appended.created)) return appended;
          throw error;
        });
      }, gone);
    },
  );
}

/**
 * Tells a handle what it has missed since its position, and writes nothing. Only an append has that answer: the events
 * of others, their places, and the state if one of them was replaced. So it is asked for with no events.
 */
function catchUp(
  append: (request: AppendRequest) => MaybePromise<Appended>,
  { key, position, signal, onRetry }: AppendRequest,
): MaybePromise<Appended> {
  return append({ key, position, stale: 'merge', events: [], signal, onRetry });
}

/** Runs a write of a session. If it was applied before, `answer` makes the result of the session, if that is still its own. */
function sessionOnce<T>(
  write: () => MaybePromise<T>,
  read: () => MaybePromise<ReadSession | undefined>,
  answer: (session: ReadSession) => T,
): MaybePromise<T> {
  return unlessApplied(write, (created, error) =>
    after(read(), (session) => {
      if (session === undefined || !isOwn(created, session.created)) throw error;
      return answer(session);
    }),
  );
}

/** Answers a creation that was applied before with the session, if it is still the one that it created. */
export function createOnce(
  create: () => MaybePromise<CreatedSession | undefined>,
  read: () => MaybePromise<ReadSession | undefined>,
): MaybePromise<CreatedSession | undefined> {
  return sessionOnce(create, read, (session) => ({ ...session, shared: NO_REVISIONS }));
}

/** Answers a change of the title or the labels that was applied before. */
export function describeOnce(
  describe: () => MaybePromise<boolean>,
  read: () => MaybePromise<ReadSession | undefined>,
): MaybePromise<boolean> {
  return sessionOnce(describe, read, () => true);
}

/** Answers a change of a shared state that was applied before. */
export function updateOnce(
  update: () => MaybePromise<SharedRevisions>,
): MaybePromise<SharedRevisions> {
  return unlessApplied(update, () => NO_REVISIONS);
}

/** Answers a deletion that was applied before. */
export function deleteOnce(remove: () => MaybePromise<Deletion>): MaybePromise<Deletion> {
  return unlessApplied(remove, () => ({ isDeleted: false }));
}

function isOwn(created: number, actual: number): boolean {
  return created === UNKNOWN || created === actual;
}
