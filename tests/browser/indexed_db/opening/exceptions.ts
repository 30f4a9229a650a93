// Exceptions of JavaScript in the middle of the wasm's work.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Event,
  IndexedDbSessionService,
  isSessionError,
  type Session,
} from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { around } from '../page/around.js';
import { dump } from '../page/bare.js';
import { idsOf, keyOf, mark, numbers } from '../page/events.js';
import { giveUp, make, open } from '../loss/loss.js';
import { TIMEOUT, Watchdogs } from '../page/watchdogs.js';

/** What the tests call in the page. */
export const inPage = {
  interrupt,
  interruptOpening,
  interruptLettingGo,
  interruptTimer,
  closeAfterTrap,
  leaveAfterTrap,
  loseAfterTrap,
  open,
};
type Page = typeof inPage;

/** The calls of a method by the wasm that throw. */
const CALLS: Record<ThrowingMethod, number[]> = {
  join: [1],
  push: [1, 40, 300],
  concat: [1],
  pop: [1],
  now: [2, 50, 100],
};

/** The members that the wasm uses while it opens a database for the first time. */
const AT_OPENING: ThrowingPlace[] = [
  'the target of an event',
  'the result of a request',
  'the version of an event',
  'a listener of a connection',
  'the start of a timer',
  'the end of a timer',
  'the clock',
];

/** The members that the wasm uses while it closes the database. */
const LETTING_GO: ThrowingPlace[] = ['the close of a connection', 'a listener of a connection'];

function assertSettled({ thrown, outcomes, uncaught }: Broken, expected: string[]): void {
  assert.equal(thrown, 1, 'the exception was thrown');
  const last = outcomes.pop();
  assert.deepEqual(
    outcomes.filter((outcome) => !expected.includes(outcome)),
    [],
  );
  assert.equal(last, 'stored', 'the next call works');
  assert.deepEqual(uncaught, []);
}

export function exceptions(context: Context): void {
  for (const place of AT_OPENING) {
    it(`every call that waits for an opening settles when ${place} throws`, async () => {
      await inTab<Page>(context, async (tab) => {
        const broken = await tab.call('interruptOpening', newName(), place);
        assertSettled(broken, ['stored', 'internal']);
      });
    });
  }

  for (const place of LETTING_GO) {
    it(`the database is closed when ${place} throws`, async () => {
      await inTab<Page>(context, async (tab) => {
        assertSettled(await tab.call('interruptLettingGo', newName(), place), ['stored']);
      });
    });
  }

  it('a transaction without any event times out although the clock throws', async () => {
    await inTab<Page>(context, async (tab) => {
      const broken = await tab.call('interruptTimer', newName());
      assertSettled(broken, ['stored', 'connection_lost']);
    });
  });

  it('close settles after a trap, and other services keep the data', async () => {
    await inTab<Page>(context, async (tab) => {
      const { outcomes, events } = await tab.call('closeAfterTrap', newName());
      assert.deepEqual(outcomes, ['internal', 'stored', 'closed']);
      assert.deepEqual(events, ['before']);
    });
  });

  it('a page that is left and restored after a trap goes on', async () => {
    await inTab<Page>(context, async (tab) => {
      const { outcomes, events, uncaught } = await tab.call('leaveAfterTrap', newName());
      assert.deepEqual(outcomes, ['internal', 'stored']);
      assert.deepEqual(events, ['before', 'after']);
      assert.deepEqual(uncaught, []);
    });
  });

  it('a database that the browser gives up after a trap is reported as lost', async () => {
    const name = newName();
    await inTab<Page>(context, async (tab) => {
      assert.equal(await tab.call('loseAfterTrap', name), 'internal');
    });
    await inTab<Page>(context, async (tab) => {
      const { lost, events } = await tab.call('open', name);
      assert.match(lost.after, new RegExp(`gave up the database "${name}"`));
      assert.deepEqual(events, []);
    });
  });

  for (const method of Object.keys(CALLS) as ThrowingMethod[]) {
    for (const call of CALLS[method]) {
      it(`every call settles, and the next ones work, when call ${call} of ${method} throws`, async () => {
        await inTab<Page>(context, async (tab) => {
          const result = await tab.call('interrupt', newName(), method, call);
          const { thrown, outcomes, events, acknowledged, appended, uncaught } = result;
          assert.equal(thrown, 1, 'the exception was thrown');
          const codes = outcomes.filter((code) => code !== 'internal');
          assert.deepEqual(codes, []);
          assert.deepEqual(uncaught, []);
          const stored = new Set(events);
          assert.equal(stored.size, events.length, 'each event is stored once');
          assert.deepEqual(
            acknowledged.filter((id) => !stored.has(id)),
            [],
            'what was acknowledged is stored',
          );
          assert.deepEqual(
            events.filter((id) => !appended.includes(id)),
            [],
          );
        });
      });
    }
  }
}

/** The methods that the wasm calls and that should not throw. */
const METHODS = {
  join: [Array.prototype, 'join'],
  push: [Array.prototype, 'push'],
  concat: [Array.prototype, 'concat'],
  pop: [Array.prototype, 'pop'],
  now: [Performance.prototype, 'now'],
} as const;

type ThrowingMethod = keyof typeof METHODS;

interface Interrupted {
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
function throwOnce(
  name: ThrowingMethod,
  call: number,
  error: Error = new RangeError('It is too much.'),
): { thrown(): number; stop(): void } {
  const [prototype, method] = METHODS[name];
  let [calls, thrown] = [0, 0];
  const stop = around(prototype as object, method as never, (_target, values, proceed) => {
    if (thrown === 0 && (new Error().stack ?? '').includes('wasm-function')) {
      calls += 1;
      if (calls === call) {
        thrown += 1;
        throw error;
      }
    }
    return proceed(...values);
  });
  return { thrown: () => thrown, stop };
}

/** Every kind of call, while one of the calls of a method throws; then once more without. */
async function interrupt(name: string, method: ThrowingMethod, call: number): Promise<Interrupted> {
  const endUncaught = uncaughtOf();
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
  const uncaught = endUncaught();
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

/** The members that the wasm reads, sets or calls while it opens a database. */
const places = () => ({
  'the target of an event': [Event.prototype, 'target', 'get'] as const,
  'the result of a request': [IDBRequest.prototype, 'result', 'get'] as const,
  'the version of an event': [IDBVersionChangeEvent.prototype, 'oldVersion', 'get'] as const,
  'a listener of a connection': [IDBDatabase.prototype, 'onversionchange', 'set'] as const,
  'the start of a timer': [globalThis, 'setTimeout', 'value'] as const,
  'the end of a timer': [globalThis, 'clearTimeout', 'value'] as const,
  'the close of a connection': [IDBDatabase.prototype, 'close', 'value'] as const,
  'the clock': [Performance.prototype, 'now', 'value'] as const,
});

type ThrowingPlace = keyof ReturnType<typeof places>;

interface Broken {
  /** How often the place threw. */
  thrown: number;
  /** The outcome of each call: a code, or `stored`. */
  outcomes: string[];
  uncaught: string[];
}

/** Makes a place throw at its first use by the wasm. */
function throwAt(place: ThrowingPlace): { thrown(): number; stop(): void } {
  const [target, name, kind] = places()[place];
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
async function interruptOpening(name: string, place: ThrowingPlace): Promise<Broken> {
  const uncaught = uncaughtOf();
  const service = new IndexedDbSessionService({ name });
  const create = (id: string) => outcomeOf(() => service.createSession(keyOf(id)));
  const exception = throwAt(place);
  const outcomes = await Promise.all([create('one'), create('two')]);
  exception.stop();
  outcomes.push(await create('three'));
  await service.close();
  return { thrown: exception.thrown(), outcomes, uncaught: uncaught() };
}

/** A database is deleted while a service holds it, and a place throws as the service lets go. */
async function interruptLettingGo(name: string, place: ThrowingPlace): Promise<Broken> {
  const uncaught = uncaughtOf();
  const service = new IndexedDbSessionService({ name });
  const outcomes = [await outcomeOf(() => service.createSession(keyOf('one')))];
  const exception = throwAt(place);
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
async function interruptTimer(name: string): Promise<Broken> {
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
  const exception = throwAt('the clock');
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

/** The page is left and restored after the wasm of a service has stopped in the middle of an append. */
async function leaveAfterTrap(name: string): Promise<{
  outcomes: string[];
  events: string[];
  uncaught: string[];
}> {
  const endUncaught = uncaughtOf();
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('before') });
  const outcomes = [await trappedAppend(service, session)];
  dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
  const other = new IndexedDbSessionService({ name });
  const current = other.getSession(keyOf('one'));
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  const after = { session: (await current)!, event: mark('after') };
  outcomes.push(await outcomeOf(() => other.appendEvent(after)));
  const events = idsOf(await other.getSession(keyOf('one')));
  await other.close();
  return { outcomes, events, uncaught: endUncaught() };
}

/** The database is deleted after the wasm of a service has stopped in the middle of an append. */
async function loseAfterTrap(name: string): Promise<string> {
  await make(name);
  const service = new IndexedDbSessionService({ name });
  const session = (await service.getSession(keyOf('one')))!;
  const outcome = await trappedAppend(service, session);
  await giveUp(name);
  return outcome;
}

/** Appends an event while the wasm stops. */
async function trappedAppend(service: IndexedDbSessionService, session: Session): Promise<string> {
  const trap = throwOnce('push', 1, new WebAssembly.RuntimeError('unreachable'));
  const outcome = await outcomeOf(() => service.appendEvent({ session, event: mark('during') }));
  trap.stop();
  return outcome;
}

/** A service is closed after its wasm has stopped in the middle of an append. */
async function closeAfterTrap(name: string): Promise<{ outcomes: string[]; events: string[] }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('before') });
  const outcomes = [await trappedAppend(service, session)];
  outcomes.push(await outcomeOf(() => service.close()));
  outcomes.push(await outcomeOf(() => service.getSession(keyOf('one'))));
  const other = new IndexedDbSessionService({ name });
  const events = idsOf(await other.getSession(keyOf('one')));
  await other.close();
  return { outcomes, events };
}
