// JavaScript exceptions while the wasm opens a database, closes it, or reads its clock.

import { IndexedDbSessionService, isSessionError } from 'adk-session-wasm';
import { keyOf } from '../events.js';
import { TIMEOUT, Watchdogs } from '../watchdogs.js';

/** The members that the wasm reads, sets or calls while it opens a database. */
const PLACES = {
  'the target of an event': [Event.prototype, 'target', 'get'],
  'the result of a request': [IDBRequest.prototype, 'result', 'get'],
  'the version of an event': [IDBVersionChangeEvent.prototype, 'oldVersion', 'get'],
  'a listener of a connection': [IDBDatabase.prototype, 'onversionchange', 'set'],
  'the start of a timer': [globalThis, 'setTimeout', 'value'],
  'the end of a timer': [globalThis, 'clearTimeout', 'value'],
  'the close of a connection': [IDBDatabase.prototype, 'close', 'value'],
  'the clock': [Performance.prototype, 'now', 'value'],
} as const;

export type ThrowingPlace = keyof typeof PLACES;

export interface Broken {
  /** How often the place threw. */
  thrown: number;
  /** The outcome of each call: a code, or `stored`. */
  outcomes: string[];
  uncaught: string[];
}

/** Makes a place throw at its first use by the wasm. */
function throwOnce(place: ThrowingPlace): { thrown(): number; stop(): void } {
  const [target, name, kind] = PLACES[place];
  const descriptor = Object.getOwnPropertyDescriptor(target, name)!;
  const member = Reflect.get(descriptor, kind) as (this: unknown, ...values: unknown[]) => unknown;
  let thrown = 0;
  Object.defineProperty(target, name, {
    ...descriptor,
    [kind](this: unknown, ...values: unknown[]) {
      if (thrown === 0 && (new Error().stack ?? '').includes('wasm-function')) {
        thrown += 1;
        throw new RangeError('It is too much.');
      }
      return member.apply(this, values);
    },
  });
  return {
    thrown: () => thrown,
    stop: () => Object.defineProperty(target, name, descriptor),
  };
}

/** Records uncaught errors until the returned function is called. */
function uncaughtOf(): () => string[] {
  const uncaught: string[] = [];
  const note = (event: ErrorEvent | PromiseRejectionEvent): void => {
    event.preventDefault();
    uncaught.push(String('reason' in event ? event.reason : event.message));
  };
  addEventListener('error', note);
  addEventListener('unhandledrejection', note);
  return () => {
    removeEventListener('error', note);
    removeEventListener('unhandledrejection', note);
    return uncaught;
  };
}

async function outcomeOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return 'stored';
  } catch (error) {
    return isSessionError(error) ? error.code : String(error);
  }
}

/** Two calls that wait for one opening, in which a place throws, and another one after it. */
export async function interruptOpening(name: string, place: ThrowingPlace): Promise<Broken> {
  const uncaught = uncaughtOf();
  const service = new IndexedDbSessionService({ name });
  const create = (id: string) => outcomeOf(() => service.createSession(keyOf(id)));
  const exception = throwOnce(place);
  const outcomes = await Promise.all([create('one'), create('two')]);
  exception.stop();
  outcomes.push(await create('three'));
  await service.close();
  return { thrown: exception.thrown(), outcomes, uncaught: uncaught() };
}

/** A database is deleted while a service holds it, and a place throws as the service lets go. */
export async function interruptLettingGo(name: string, place: ThrowingPlace): Promise<Broken> {
  const uncaught = uncaughtOf();
  const service = new IndexedDbSessionService({ name });
  const outcomes = [await outcomeOf(() => service.createSession(keyOf('one')))];
  const exception = throwOnce(place);
  await new Promise<void>((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error!);
  });
  exception.stop();
  outcomes.push(await outcomeOf(() => service.createSession(keyOf('one'))));
  await service.close();
  return { thrown: exception.thrown(), outcomes, uncaught: uncaught() };
}

/** The clock throws when a silent transaction is to be given up. */
export async function interruptTimer(name: string): Promise<Broken> {
  const uncaught = uncaughtOf();
  const service = new IndexedDbSessionService({ name, timeoutMs: TIMEOUT });
  const watchdogs = new Watchdogs();
  const outcomes = [await outcomeOf(() => service.createSession(keyOf('one')))];
  const begun = watchdogs.started();
  const [proto, commit] = [IDBTransaction.prototype, 'commit'] as const;
  const descriptor = Object.getOwnPropertyDescriptor(proto, commit)!;
  // The transaction is kept alive, without events.
  let isKept = true;
  Object.defineProperty(proto, commit, {
    ...descriptor,
    value(this: IDBTransaction) {
      const store = this.objectStore(this.objectStoreNames[0]!);
      const spin = (): void => {
        try {
          if (isKept) store.count().onsuccess = spin;
        } catch {
          // It was given up.
        }
      };
      spin();
    },
  });
  const create = outcomeOf(() => service.createSession(keyOf('two')));
  await begun;
  await new Promise((resolve) => setTimeout(resolve, 50));
  const exception = throwOnce('the clock');
  watchdogs.goOff();
  exception.stop();
  Object.defineProperty(proto, commit, descriptor);
  outcomes.push(await create);
  isKept = false;
  watchdogs.stop();
  outcomes.push(await outcomeOf(() => service.createSession(keyOf('three'))));
  await service.close();
  return { thrown: exception.thrown(), outcomes, uncaught: uncaught() };
}
