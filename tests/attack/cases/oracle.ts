// The rules that hold after every case.

import { isSessionError, type Session } from 'adk-session-wasm';
import { SESSION_ERROR_CODES } from '../../../js/values/errors/errors.js';

/** How a call ended. */
export type Outcome =
  | { readonly isDone: true; readonly value: unknown }
  | { readonly isDone: false; readonly error: unknown };

/** A session as it is read. */
export interface Stored {
  readonly state: Readonly<Record<string, unknown>>;
  readonly events: readonly unknown[];
  readonly lastUpdateTime: number;
}

/** A rule that does not hold. */
export class RuleViolation extends Error {}

export function must(holds: boolean, rule: string, ...seen: unknown[]): void {
  if (!holds) throw new RuleViolation([rule, ...seen.map(shown)].join('\n    '));
}

/** Returns a session that must exist, because it was created and not deleted. */
export function present<T>(session: T | undefined): T {
  if (session === undefined) throw new RuleViolation('The session exists.');
  return session;
}

/** Returns the outcome of a call, even if it throws. Fails if the call does not settle in time. */
export async function outcomeOf(call: () => unknown, milliseconds = 60_000): Promise<Outcome> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const result = call();
    must(result instanceof Promise, 'A method returns a promise.', result);
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new RuleViolation('The call did not settle.')), milliseconds);
    });
    // The value is wrapped, because a promise would call the `then` that a case has put on an event.
    const done = (result as Promise<unknown>).then((value) => ({ isDone: true, value }) as const);
    return await Promise.race([done, late]);
  } catch (error) {
    if (error instanceof RuleViolation) throw error;
    return { isDone: false, error };
  } finally {
    clearTimeout(timer);
  }
}

/** Messages of JavaScript engines about a value that code did not expect. Ours continue with "but". */
const ENGINE_ERROR =
  /cannot (?:read|set|assign|convert|destructure)|is not (?:a function|iterable|an object(?! but))|undefined is/i;

/** Checks that a failed call has an error of this package, and not one caused by a bug. */
export function requireTypedError(outcome: Outcome): void {
  if (outcome.isDone) return;
  const { error } = outcome;
  must(isSessionError(error), 'A call rejects with a SessionError.', error);
  const { code, message } = error as { code: string; message: unknown };
  must((SESSION_ERROR_CODES as readonly string[]).includes(code), 'A code is documented.', code);
  must(code !== 'internal', 'No call causes an internal error.', error);
  must(
    !ENGINE_ERROR.test(String(message)),
    'No error has the message of a JavaScript engine.',
    error,
  );
  must(typeof message === 'string' && message !== '', 'An error has a message.', error);
}

export function storedOf(session: Session | undefined): Stored | undefined {
  if (session === undefined) return undefined;
  const { state, events, lastUpdateTime } = session;
  return { state, events, lastUpdateTime };
}

/** Whether two values are equal as JSON, in any order of keys. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return false;
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(other, key) &&
      isSameJson((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
  );
}

/** The keys of a state in the session scope. */
export function ownState(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(state).filter(([key]) => !/^(?:app|user):/.test(key));
  return Object.fromEntries(entries);
}

const BUILT_IN = [Object.prototype, Array.prototype, Function.prototype, String.prototype].map(
  (prototype) => [prototype, Reflect.ownKeys(prototype).length] as const,
);

export function requireCleanPrototypes(): void {
  for (const [prototype, count] of BUILT_IN) {
    must(Reflect.ownKeys(prototype).length === count, 'No prototype is changed.');
  }
}

function shown(value: unknown): string {
  try {
    if (value instanceof Error) {
      const { code } = value as { code?: unknown };
      return `${value.name} ${String(code)}: ${value.message}\n${value.stack ?? ''}`;
    }
    const text = JSON.stringify(value) as string | undefined;
    return (text ?? typeof value).slice(0, 1500);
  } catch {
    return `a ${typeof value} that cannot be shown`;
  }
}
