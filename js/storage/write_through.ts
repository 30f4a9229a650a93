import { toSessionError } from '../wasm/core.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import type { Changes, Decide, StorageAdapter, StorageWriteRequest } from './adapter.js';
import { messageOf } from '../json/rules.js';
import { contractViolation } from './checked_rows.js';

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
