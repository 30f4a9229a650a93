/**
 * Checks around each call of a service. The request is checked, and a result is
 * awaited only if it is a promise.
 */
import { messageOf } from '../errors/describe.js';
import { requireObject } from '../errors/option_values.js';
import type { HostAbortSignal } from '../model/host.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import { isPromise } from '../members/is_promise.js';
import { isTooLong, tooLongError } from '../json/too_long.js';

export type MaybePromise<T> = T | Promise<T>;

/** Passes a value to `next`: at once, or once it resolves if it is a promise. */
export function after<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return isPromise(value) ? value.then(next) : next(value);
}

/**
 * Copies the own members of a request. Fails with `invalid_argument` if it is not an object.
 */
export function copyRequest<Request extends object>(request: Request): Request {
  requireRequest(request);
  return readMembers(request);
}

/** Copies the own members of a request or of options. Fails with `invalid_argument` if a getter throws. */
export function readMembers<Given extends object>(given: Given): Given {
  try {
    return { ...given };
  } catch (thrown) {
    throw requestError(thrown);
  }
}

export function requireRequest(request: unknown): void {
  requireObject('The request', request);
}

export function requireOptions(options: unknown): void {
  requireObject('The options', options);
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
