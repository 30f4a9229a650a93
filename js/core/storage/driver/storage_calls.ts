/** Calls of a storage's verbs: their requests and their errors. */
import { messageOf } from '../../../values/errors/describe.js';
import { type Call, requireNotAborted } from '../../call/call.js';
import type { StorageCall, MutationId, WriteIdentity } from '../../../values/model/diagnostic.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';

/** Runs a verb of the storage. Whatever it throws becomes a `SessionError`. */
export async function runVerb<T>(
  verb: string,
  { signal }: Call,
  run: () => Promise<T>,
): Promise<T> {
  try {
    // The signal may have fired between two verbs of one call.
    requireNotAborted(signal);
    return await run();
  } catch (cause) {
    throw storageError(verb, cause);
  }
}

export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Copies a request, and gives it what a storage needs of the call. Only here a call is taken apart. */
export function requestOf<Request extends object>(
  given: Request,
  { signal, onRetry }: Call,
  mutation?: MutationId,
): Request & StorageCall & WriteIdentity {
  const request: Request & Mutable<StorageCall & WriteIdentity> = { ...given };
  if (signal !== undefined) request.signal = signal;
  if (onRetry !== undefined) request.onRetry = onRetry;
  if (mutation !== undefined) request.mutation = mutation;
  return request;
}

/** Returns the error for whatever a verb threw. */
export function storageError(verb: string, cause: unknown): SessionError {
  if (isSessionError(cause)) return cause;
  const reason = messageOf(cause);
  return new SessionError('storage_failed', `The storage's ${verb} failed: ${reason}`, { cause });
}
