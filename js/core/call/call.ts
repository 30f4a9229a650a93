/** The checks around each call of a service. */
import { messageOf } from '../../values/errors/describe.js';
import { requireObject, requireSignal } from '../../values/errors/option_values.js';
import type { StorageCall } from '../../values/model/diagnostic.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { ReadPolicy } from '../../values/model/values/read_options.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { isTooLong, tooLongError } from '../../values/json/unreadable.js';
import type { CallFacts } from './diagnostics.js';

/**
 * A call of a service. The public method makes it, and every function on the way to the storage passes the same object
 * on. A write that joins several calls has a call of its own.
 */
export interface Call extends StorageCall {
  /** Where a read looks first. Only a cache has a choice. */
  readonly reads?: ReadPolicy | undefined;
  /** The store that a cache had when the call began. The call keeps it if the local data is forgotten meanwhile. */
  readonly store?: object | undefined;
  /** The creation that follows this read if there is no session. Only a cache uses it. */
  readonly creation?: object | undefined;
  /** What the call tells the diagnostics. Absent: nobody listens. */
  readonly facts?: CallFacts | undefined;
}

/** Returns a call for the reads after a commit. They do not end with the signal. */
export function afterCommit(call: Call): Call {
  // Most calls have no signal, and a copy takes longer than this check.
  return call.signal === undefined ? call : { ...call, signal: undefined };
}

/**
 * Copies the members of a request. What the caller changes afterwards has no effect.
 *
 * @throws SessionError `invalid_argument` if it is not an object, if a getter throws, or if its `signal` is no
 *   `AbortSignal`
 */
export function takeRequest<Request extends object>(request: Request): Request {
  requireObject('The request', request);
  return takeMembers(request, '');
}

/**
 * Copies the members of options, by the rule of {@link takeRequest}.
 *
 * @param owner the member that holds the options, with a dot; for the `key` of the error
 */
export function takeOptions<Options extends object>(options: Options, owner = ''): Options {
  requireObject('The options', options);
  return takeMembers(options, owner);
}

function takeMembers<Given extends object>(given: Given, owner: string): Given {
  let taken: Given & { readonly signal?: unknown };
  try {
    taken = { ...given };
  } catch (thrown) {
    throw requestError(thrown);
  }
  requireSignal(`${owner}signal`, taken.signal);
  return taken;
}

export function requireNotAborted(signal: HostAbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortedError(signal);
}

/** The error of a call whose signal fired before its commit began. */
export function abortedError({ reason }: HostAbortSignal): SessionError {
  const message = 'The call was aborted before its commit began; nothing was written.';
  return new SessionError('aborted', message, { cause: reason });
}

/**
 * Returns the error for something that was thrown while a request was read. Reading may run the
 * caller's own code, such as a getter.
 */
export function requestError(thrown: unknown): SessionError {
  if (isSessionError(thrown)) return thrown;
  if (isTooLong(thrown)) return tooLongError(undefined, thrown);
  const message = `The request cannot be read; a getter threw: ${messageOf(thrown)}`;
  return new SessionError('invalid_argument', message, { cause: thrown });
}
