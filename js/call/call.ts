/**
 * What every method of a service needs around its call: its request checked, its answer waited for
 * only where it has to be.
 */
import { isSessionError, SessionError } from '../errors/errors.js';
import { ownMembers } from '../members/own.js';
import { kindOf, messageOf } from '../json/rules.js';
import { isTooLong, tooLong } from '../json/too_long.js';

export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value that may have to be waited for, at once where it need not. */
export function after<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** What a call is asked, by the request's own members. */
export function takeRequest<Request extends object>(request: Request): Request {
  const given: unknown = request;
  if (typeof given === 'object' && given !== null) return ownMembers(request);
  throw invalid('The request', `must be one object; it is ${kindOf(given)}`);
}

export function requireOptions(options: unknown): void {
  if (typeof options === 'object' && options !== null) return;
  throw invalid('The options', `must be one object; they are ${kindOf(options)}`);
}

export function requireNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortedError(signal);
}

/** For a call whose signal fired before its commit began. */
export function abortedError({ reason }: AbortSignal): SessionError {
  const message = 'The call was aborted before its commit began; nothing was written.';
  return new SessionError('aborted', message, { cause: reason });
}

export function invalid(key: string, rule: string): SessionError {
  return new SessionError('invalid_argument', `${key} ${rule}.`, { key });
}

/** The error of a call that threw. The caller's own code, such as a getter, runs while its request is read. */
export function refusalOf(thrown: unknown): SessionError {
  if (isSessionError(thrown)) return thrown;
  if (isTooLong(thrown)) return tooLong(undefined, thrown);
  const message = `The request cannot be read, since a part of it threw: ${messageOf(thrown)}`;
  return new SessionError('invalid_argument', message, { cause: thrown });
}

/** A word as the caller wrote it, or what kind of thing stands in its place. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : kindOf(value);
}
