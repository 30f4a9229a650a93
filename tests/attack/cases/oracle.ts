// What must hold after every case, whatever it did.

import { isSessionError, SESSION_ERROR_CODES, type Session } from 'adk-session-wasm';

/** How a call ended. */
export type Outcome =
  | { readonly isDone: true; readonly value: unknown }
  | { readonly isDone: false; readonly error: unknown };

/** A session as a new read shows it. */
export interface Stored {
  readonly state: Readonly<Record<string, unknown>>;
  readonly events: readonly unknown[];
  readonly lastUpdateTime: number;
}

export class Broken extends Error {}

export function must(holds: boolean, rule: string, ...seen: unknown[]): void {
  if (!holds) throw new Broken([rule, ...seen.map(shown)].join('\n    '));
}

/** A session that was made, and that nothing has deleted. */
export function present<T>(session: T | undefined): T {
  if (session === undefined) throw new Broken('The session is there.');
  return session;
}

/** Whatever a call throws or rejects with. A call that does neither within the time has hung. */
export async function outcomeOf(call: () => unknown, milliseconds = 60_000): Promise<Outcome> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const answer = call();
    must(answer instanceof Promise, 'A method answers with a promise.', answer);
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Broken('The call did not settle.')), milliseconds);
    });
    // Wrapped: an event with a `then` that the case put there would be called by a second promise.
    const done = (answer as Promise<unknown>).then((value) => ({ isDone: true, value }) as const);
    return await Promise.race([done, late]);
  } catch (error) {
    if (error instanceof Broken) throw error;
    return { isDone: false, error };
  } finally {
    clearTimeout(timer);
  }
}

/** What engines say of a value that code did not expect. */
const OUR_FAULT =
  /cannot (?:read|set|assign|convert|destructure)|is not (?:a function|iterable|an object)|undefined is/i;

/** Makes sure that a call which failed says so by an error of this package, and not by a bug of it. */
export function requireTypedError(outcome: Outcome): void {
  if (outcome.isDone) return;
  const { error } = outcome;
  must(isSessionError(error), 'A call rejects with a SessionError.', error);
  const { code, message } = error as { code: string; message: unknown };
  must((SESSION_ERROR_CODES as readonly string[]).includes(code), 'A code is documented.', code);
  must(code !== 'internal', 'Nothing that a caller does is a bug of the package.', error);
  must(!OUR_FAULT.test(String(message)), 'No fault of the package shows in an error.', error);
  must(typeof message === 'string' && message !== '', 'An error says what is wrong.', error);
}

export function storedOf(session: Session | undefined): Stored | undefined {
  if (session === undefined) return undefined;
  const { state, events, lastUpdateTime } = session;
  return { state, events, lastUpdateTime };
}

/** Whether two values are the same JSON; the order of keys does not count. */
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

/** The keys of a state that belong to the session alone. */
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
