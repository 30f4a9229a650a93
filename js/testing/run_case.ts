/** Runs the steps of a case through the public API. Counterpart of `runner.rs`. */
import {
  type BaseSessionService,
  type Event,
  isSessionError,
  openSessionService,
  type Session,
  type SessionServiceOptions,
  type StorageAdapter,
} from '../index.js';
import { type Call, type Case, type Json, readSteps, type Step } from './case.js';
import { expectPage, expectSession, expectState } from './expect.js';

/**
 * Returns an empty storage: an adapter or `'memory'`. It may also return a service over an empty storage,
 * made with the given options.
 *
 * @example
 * ```ts
 * import { IndexedDbSessionService } from 'adk-session-wasm';
 * import type { OpenStorage } from 'adk-session-wasm/testing';
 *
 * const inMemory: OpenStorage = () => 'memory';
 * let count = 0;
 * const inDatabase: OpenStorage = (options) =>
 *   new IndexedDbSessionService({ ...options, name: `conformance-${++count}` });
 * ```
 */
export type OpenStorage = (
  options: Required<Pick<SessionServiceOptions, 'clock' | 'stale'>>,
) => Opened | Promise<Opened>;
type Opened = 'memory' | StorageAdapter | BaseSessionService;

/** Runs a case. Throws an error that names the step that failed. */
export async function runCase(testCase: Case, openStorage: OpenStorage): Promise<void> {
  const clock = { now: 1000 };
  const options = { clock: () => clock.now, stale: testCase.stale };
  const storage = await openStorage(options);
  const service = isService(storage) ? storage : await openSessionService({ ...options, storage });
  try {
    const run = new Run(service, clock);
    for (const [number, step] of readSteps(testCase.steps).entries()) {
      await run.step(step).catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`step ${number + 1}: ${reason}`, { cause });
      });
    }
  } finally {
    await service.close();
  }
}

function isService(storage: Opened): storage is BaseSessionService {
  return typeof (storage as Partial<BaseSessionService>).createSession === 'function';
}

const APP = { appName: 'app' };
const USER = { ...APP, userId: 'user' };
const KEY = { ...USER, sessionId: 'session' };

class Run {
  readonly #service: BaseSessionService;
  readonly #clock: { now: number };
  readonly #handles = new Map<string, Session>();

  constructor(service: BaseSessionService, clock: { now: number }) {
    this.#service = service;
    this.#clock = clock;
  }

  async step(step: Step): Promise<void> {
    if ('call' in step) {
      await this.#check(step.call);
      return;
    }
    const { calls, outcomes } = step;
    const run = (call: Call) => (outcomes === undefined ? this.#check(call) : this.#tell(call));
    // All calls must have settled before the next step, even if one fails.
    const counted: Record<string, number> = {};
    for (const settled of await Promise.allSettled(calls.map(run))) {
      if (settled.status === 'rejected') throw settled.reason;
      counted[settled.value] = (counted[settled.value] ?? 0) + 1;
    }
    if (outcomes !== undefined) expectState(outcomes, counted, 'the outcomes');
  }

  /** Makes a call, and checks its outcome. */
  async #check(call: Call): Promise<string> {
    const outcome = await this.#tell(call);
    if (outcome === (call.error ?? 'ok') || outcome === call.mayFail) return outcome;
    const should = call.error === undefined ? 'succeed' : `be refused as ${call.error}`;
    throw new Error(`${call.op} ended with ${outcome}, but should ${should}`);
  }

  /** Makes a call. Returns `ok` if it succeeded as expected, or the code of its refusal. */
  async #tell(call: Call): Promise<string> {
    this.#clock.now = call.now;
    let answer: { value: unknown; compare: (expected: unknown, actual: unknown) => void };
    try {
      answer = await this.#perform(call);
    } catch (error) {
      // Failures of the storage are not refusals, and no case expects them.
      if (!isSessionError(error) || error.code === 'storage_failed' || error.code === 'internal') {
        throw error;
      }
      const { code, expectedRevision, actualRevision } = error;
      if (code === 'stale_session' && !((expectedRevision ?? NaN) < (actualRevision ?? NaN))) {
        const reason = `a handle at ${expectedRevision} is said to be behind ${actualRevision}`;
        throw new Error(reason, { cause: error });
      }
      return code;
    }
    if (!call.expects) return 'ok';
    try {
      answer.compare(call.expect, answer.value);
    } catch (error) {
      throw new Error(`${call.op}: ${(error as Error).message}`, { cause: error });
    }
    return 'ok';
  }

  async #perform(call: Call) {
    const service = this.#service;
    switch (call.op) {
      case 'createSession':
        return this.#keep(call, await service.createSession(filled(KEY, call.with)));
      case 'getOrCreateSession':
        return this.#keep(call, await service.getOrCreateSession(filled(KEY, call.with)));
      case 'getSession':
        return this.#keep(call, await service.getSession(filled(KEY, call.with)));
      case 'makeHandle':
        return this.#keep(call, handMade(filled(KEY, call.with), call.with));
      case 'inspect':
        return { value: this.#handle(call), compare: expectSession };
      case 'listSessions':
        return { value: await service.listSessions(filled(APP, call.with)), compare: expectPage };
      case 'getUserState':
        return { value: await service.getUserState(filled(USER, call.with)), compare: expectState };
      case 'getAppState':
        return { value: await service.getAppState(filled(APP, call.with)), compare: expectState };
      default:
        await this.#change(call);
        return { value: undefined, compare: expectState };
    }
  }

  /** Makes a call whose result is not compared. */
  async #change(call: Call): Promise<unknown> {
    const service = this.#service;
    switch (call.op) {
      case 'appendEvent':
        return service.appendEvent({
          session: this.#handle(call),
          event: eventOf(call.with.event),
        });
      case 'appendEvents':
        return service.appendEvents({
          session: this.#handle(call),
          events: (call.with.events as readonly unknown[]).map(eventOf),
        });
      case 'updateState':
        return service.updateState(filled({ ...APP, stateDelta: {} }, call.with));
      case 'deleteSession':
        return service.deleteSession(filled(KEY, call.with));
      case 'deleteUser':
        return service.deleteUser(filled(USER, call.with));
      case 'deleteUserState':
        return service.deleteUserState(filled(USER, call.with));
      case 'deleteAppState':
        return service.deleteAppState(filled(APP, call.with));
      default:
        throw new Error(`there is no op ${JSON.stringify(call.op)}`);
    }
  }

  #keep(call: Call, session: Session | undefined) {
    if (call.as !== undefined && session !== undefined) this.#handles.set(call.as, session);
    return { value: session, compare: expectSession };
  }

  #handle(call: Call): Session {
    const handle = this.#handles.get(call.handle ?? '');
    if (handle === undefined) throw new Error(`there is no handle ${JSON.stringify(call.handle)}`);
    return handle;
  }
}

/** Returns the given members on top of `defaults`; `null` removes a member. */
function filled<D extends object>(defaults: D, given: Json): D {
  const members = Object.entries({ ...defaults, ...given });
  return Object.fromEntries(members.filter(([, value]) => value !== null)) as D;
}

function handMade({ appName, userId, sessionId: id }: typeof KEY, given: Json): Session {
  const state = (given.state ?? {}) as Session['state'];
  const events = ((given.events ?? []) as readonly unknown[]).map(eventOf);
  return { id, appName, userId, state, events, lastUpdateTime: 0 };
}

/** Returns a new event with the members that the case gives. */
function eventOf(given: unknown): Event {
  const members = typeof given === 'string' ? { id: given } : (given as Json);
  const empty = { invocationId: 'i', author: 'agent', timestamp: 1000 };
  return { ...empty, actions: { stateDelta: {} }, ...members } as unknown as Event;
}
