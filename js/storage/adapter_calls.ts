/** Calls of an adapter's verbs: their requests, their errors, and the end of waiting. */
import { messageOf } from '../errors/describe.js';
import { abortedError, type MaybePromise, requireNotAborted } from '../call/call.js';
import { onAbort } from '../call/on_abort.js';
import { ownMembers } from '../members/own.js';
import type { StorageCall } from '../model/diagnostic.js';
import { toSessionError } from '../wasm/core.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import type { Decide, StorageAdapter, StorageWriteRequest } from './adapter.js';
import { contractViolation } from './checked_rows.js';
import type { Changes } from './rows.js';

/** Runs a verb of the adapter. Whatever it throws becomes a `SessionError`. */
export async function settled<T>(
  verb: string,
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  try {
    // The signal may have fired between two verbs of one call.
    requireNotAborted(signal);
    return await run();
  } catch (cause) {
    throw adapterError(verb, cause);
  }
}

/** A request without prototype: the adapter reads no member that someone put on `Object.prototype`. */
export function requestOf<Request extends object>(
  given: Request,
  { signal, onRetry }: StorageCall,
): Request & StorageCall {
  return ownMembers({
    ...given,
    ...(signal !== undefined && { signal }),
    ...(onRetry !== undefined && { onRetry }),
  });
}

/** Stops waiting when the signal fires. Only for reads, which change nothing. */
export async function untilAborted<T>(
  signal: AbortSignal | undefined,
  answer: MaybePromise<T>,
): Promise<T> {
  if (signal === undefined) return answer;
  let ignore = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    ignore = onAbort(signal, () => reject(abortedError(signal)));
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    ignore();
  }
}

/** The verbs that write. */
export type WriteVerb = 'create' | 'append';

/**
 * Lets an adapter run a write and calls `decide` for it. Returns without a promise if the adapter
 * does.
 *
 * @param writer the adapter, or a group of appends
 * @throws SessionError the error that `decide` threw, even if the adapter hides it; else
 *   `storage_failed`
 */
export function writeThrough<Verb extends WriteVerb>(
  verb: Verb,
  writer: Pick<StorageAdapter, Verb>,
  request: StorageWriteRequest,
  decide: Decide,
): void | Promise<void> {
  let state: 'running' | 'decided' | 'ended' = 'running';
  let refusal: SessionError | undefined;
  const checkedDecide = (found: Parameters<Decide>[0]): Changes | undefined => {
    if (state === 'ended') throw contractViolation(verb, 'called decide after it had ended');
    state = 'decided';
    refusal = undefined;
    try {
      return decide(found);
    } catch (thrown) {
      throw (refusal = toSessionError(thrown));
    }
  };
  const succeed = (): void => {
    const isDecided = state === 'decided';
    state = 'ended';
    // The adapter should have let the error through, but hid it.
    if (refusal !== undefined) throw refusal;
    if (!isDecided) throw contractViolation(verb, 'ended without calling decide');
  };
  const fail = (error: unknown): never => {
    state = 'ended';
    throw refusal ?? adapterError(verb, error);
  };
  let result: void | PromiseLike<void>;
  let isLater: boolean;
  try {
    result = writer[verb](request, checkedDecide);
    // Any value with a `then` is awaited, as `await` would do.
    isLater = typeof result?.then === 'function';
  } catch (error) {
    return fail(error);
  }
  return isLater ? Promise.resolve(result).then(succeed, fail) : succeed();
}

/** Returns the error for whatever a verb threw. */
export function adapterError(verb: string, cause: unknown): SessionError {
  if (isSessionError(cause)) return cause;
  const reason = messageOf(cause);
  return new SessionError('storage_failed', `The storage's ${verb} failed: ${reason}`, { cause });
}
