// Exceptions of JavaScript in the middle of the wasm's work.

import { type Event, IndexedDbSessionService, isSessionError } from 'adk-session-wasm';
import { around } from '../around.js';
import { dump } from '../bare.js';
import { idsOf, keyOf, mark, numbers } from '../events.js';

/** The methods that the wasm calls and that should not throw. */
const METHODS = {
  join: [Array.prototype, 'join'],
  push: [Array.prototype, 'push'],
  concat: [Array.prototype, 'concat'],
  pop: [Array.prototype, 'pop'],
  now: [Performance.prototype, 'now'],
} as const;

export type ThrowingMethod = keyof typeof METHODS;

export interface Interrupted {
  /** How often the method threw. */
  thrown: number;
  /** The outcome of each call: a code, or `stored`. */
  outcomes: string[];
  /** Ids of the stored events, those that were acknowledged, and those that were appended. */
  events: string[];
  acknowledged: string[];
  appended: string[];
  /** The uncaught errors. */
  uncaught: string[];
}

/** Makes a method throw once, at its call of that number from the wasm. */
function throwOnce(name: ThrowingMethod, call: number): { thrown(): number; stop(): void } {
  const [prototype, method] = METHODS[name];
  let [calls, thrown] = [0, 0];
  const stop = around(prototype as object, method as never, (_target, values, proceed) => {
    if (thrown === 0 && (new Error().stack ?? '').includes('wasm-function')) {
      calls += 1;
      if (calls === call) {
        thrown += 1;
        throw new RangeError('It is too much.');
      }
    }
    return proceed(...values);
  });
  return { thrown: () => thrown, stop };
}

/** Every kind of call, while one of the calls of a method throws; then once more without. */
export async function interrupt(
  name: string,
  method: ThrowingMethod,
  call: number,
): Promise<Interrupted> {
  const uncaught: string[] = [];
  const note = (event: ErrorEvent | PromiseRejectionEvent): void => {
    event.preventDefault();
    uncaught.push(String('reason' in event ? event.reason : event.message));
  };
  addEventListener('error', note);
  addEventListener('unhandledrejection', note);
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('one'));
  const acknowledged: string[] = [];
  const appended: string[] = [];
  const outcomes: string[] = [];
  const attempt = async (run: () => Promise<unknown>, ids: string[] = []): Promise<void> => {
    appended.push(...ids);
    try {
      await run();
      acknowledged.push(...ids);
      outcomes.push('stored');
    } catch (error) {
      outcomes.push(isSessionError(error) ? error.code : String(error));
    }
  };
  const append = (ids: string[]): Promise<void> => {
    const [first, ...rest] = ids.map(mark) as [Event, ...Event[]];
    return attempt(() => service.appendEvents({ session, events: [first, ...rest] }), ids);
  };
  const work = async (round: string): Promise<void> => {
    await append([`${round} single`]);
    await append(numbers(20).map((number) => `${round} page ${number}`));
    await Promise.all(numbers(130).map((number) => append([`${round} many ${number}`])));
    for (const number of numbers(30)) await append([`${round} each ${number}`]);
    await attempt(() => service.getSession(keyOf('one')));
    await attempt(() => service.getSession({ ...keyOf('one'), config: { numRecentEvents: 3 } }));
    await attempt(() => service.listSessions({ appName: 'shop' }));
    await attempt(() => service.createSession(keyOf(`${round} two`)));
    await attempt(() => service.deleteSession(keyOf(`${round} two`)));
    await attempt(() => service.updateState({ appName: 'shop', stateDelta: { 'app:x': round } }));
  };
  const exception = throwOnce(method, call);
  await work('first');
  exception.stop();
  const before = outcomes.length;
  await work('second');
  const events = idsOf(await service.getSession(keyOf('one')));
  await service.close();
  // An uncaught error may be reported later than the end of its call.
  await dump(name);
  removeEventListener('error', note);
  removeEventListener('unhandledrejection', note);
  if (outcomes.slice(before).some((outcome) => outcome !== 'stored')) {
    throw new Error(`after it: ${outcomes.slice(before).join()}`);
  }
  return {
    thrown: exception.thrown(),
    outcomes: outcomes.slice(0, before).filter((outcome) => outcome !== 'stored'),
    events,
    acknowledged,
    appended,
    uncaught,
  };
}
