/** Makes the calls of a case through the public API, and checks what they return. Counterpart of `runner/mod.rs`. */
import {
  type CreateSessionRequest,
  type Event,
  isSessionError,
  type Session,
  type SessionChanges,
  SessionError,
  type SessionErrorCode,
  type SessionService,
} from '../index.js';
import type { ExpectedEvents } from '../values/model/session.js';
import type { ComputeDelta } from '../values/state/state_shape.js';
import type { JsonObject } from '../values/json/rules.js';
import type { CaseCall, Step } from './case.js';
import { expectEqual, expectPage, expectSession, expectState } from './expect.js';

const APP = { appName: 'app' };
const USER = { ...APP, userId: 'user' };
const KEY = { ...USER, sessionId: 'session' };

/** The steps of one case on one service, with the handles and cursors that earlier steps named. */
export class CaseExecution {
  readonly #service: SessionService;
  readonly #clock: { now: number };
  readonly #handles = new Map<string, Session>();
  readonly #cursors = new Map<string, string>();

  constructor(service: SessionService, clock: { now: number }) {
    this.#service = service;
    this.#clock = clock;
  }

  async step(step: Step): Promise<void> {
    if ('call' in step) {
      await this.#check(step.call);
      return;
    }
    const { calls, outcomes } = step;
    const run = (call: CaseCall) =>
      outcomes === undefined ? this.#check(call) : this.#outcomeOf(call);
    // All calls must have settled before the next step, even if one fails.
    const counts: Record<string, number> = {};
    for (const settled of await Promise.allSettled(calls.map(run))) {
      if (settled.status === 'rejected') throw settled.reason;
      counts[settled.value] = (counts[settled.value] ?? 0) + 1;
    }
    if (outcomes !== undefined) expectState(outcomes, counts, 'the outcomes');
  }

  /** Makes a call, and checks its outcome. */
  async #check(call: CaseCall): Promise<string> {
    const outcome = await this.#outcomeOf(call);
    if (outcome === (call.error ?? 'ok') || outcome === call.mayFail) return outcome;
    const expectation = call.error === undefined ? 'succeed' : `be refused as ${call.error}`;
    throw new Error(`${call.op} ended with ${outcome}, but should ${expectation}`);
  }

  /** Makes a call. Returns `ok` if it succeeded as expected, or the code of its refusal. */
  async #outcomeOf(call: CaseCall): Promise<string> {
    this.#clock.now = call.now;
    let result: { value: unknown; compare: (expected: unknown, actual: unknown) => void };
    try {
      result = await this.#perform(call);
    } catch (error) {
      // Failures of the storage are not refusals, and no case expects them.
      if (!isSessionError(error) || error.code === 'storage_failed' || error.code === 'internal') {
        throw error;
      }
      const { code, expectedRevision, actualRevision, actualEvents } = error;
      const isBehind = (expectedRevision ?? NaN) < (actualRevision ?? NaN);
      if (code === 'stale_session' && actualEvents === undefined && !isBehind) {
        const reason = `the error reports a handle at ${expectedRevision} as behind ${actualRevision}`;
        throw new Error(reason, { cause: error });
      }
      return code;
    }
    if (!call.expects) return 'ok';
    try {
      result.compare(call.expect, result.value);
    } catch (error) {
      throw new Error(`${call.op}: ${(error as Error).message}`, { cause: error });
    }
    return 'ok';
  }

  async #perform(call: CaseCall) {
    const service = this.#service;
    switch (call.op) {
      case 'createSession':
        return this.#storeHandle(call, await service.createSession(newSession(call.with)));
      case 'getOrCreateSession':
        return this.#storeHandle(call, await service.getOrCreateSession(newSession(call.with)));
      case 'getSession':
        return this.#storeHandle(call, await service.getSession(withDefaults(KEY, call.with)));
      case 'makeHandle':
        return this.#storeHandle(call, makeHandle(withDefaults(KEY, call.with), call.with));
      case 'inspect':
        return { value: this.#handle(call), compare: expectSession };
      case 'listSessions':
        return this.#listSessions(call);
      case 'listEvents':
        return this.#listEvents(call);
      case 'getEvents':
        return this.#getEvents(call);
      case 'listChanges':
        return this.#listChanges(call);
      case 'events': {
        const events = [];
        const request = withDefaults(KEY, call.with);
        for await (const event of service.events(request)) events.push(event);
        return { value: { events }, compare: expectSession };
      }
      case 'loadOlder': {
        const session = this.#handle(call);
        const hasOlder = await service.loadOlder(session, call.with.limit as number | undefined);
        return { value: { ...session, hasOlder }, compare: expectSession };
      }
      case 'sessions': {
        const sessions = [];
        const request = withDefaults(APP, call.with);
        for await (const session of service.sessions(request)) sessions.push(session);
        return { value: { sessions }, compare: expectPage };
      }
      case 'sessionInfo':
        return {
          value: await service.sessionInfo(withDefaults(KEY, call.with)),
          compare: expectSession,
        };
      case 'deleteSessions': {
        const request = withDefaults(APP, call.with);
        return { value: await service.deleteSessions(request), compare: expectNumber };
      }
      case 'getUserState':
        return {
          value: await service.getUserState(withDefaults(USER, call.with)),
          compare: expectState,
        };
      case 'getAppState':
        return {
          value: await service.getAppState(withDefaults(APP, call.with)),
          compare: expectState,
        };
      default:
        await this.#change(call);
        return { value: undefined, compare: expectState };
    }
  }

  /** Makes a call whose result is not compared. */
  async #change(call: CaseCall): Promise<unknown> {
    const service = this.#service;
    switch (call.op) {
      case 'appendEvent':
        return service.appendEvent({
          session: this.#handle(call),
          event: toEvent(call.with.event),
          expectedRevision: this.#expectedRevision(call),
          expectedEvents: this.#expectedEvents(call),
        });
      case 'appendEvents':
        return service.appendEvents({
          session: this.#handle(call),
          expectedRevision: this.#expectedRevision(call),
          expectedEvents: this.#expectedEvents(call),
          events: (call.with.events as readonly unknown[]).map(toEvent),
        });
      case 'updateSession': {
        const { title, labels, ...key } = call.with as SessionChanges & JsonObject;
        return service.updateSession(withDefaults(KEY, key), { title, labels });
      }
      case 'updateState':
        return service.updateState(withDefaults({ ...APP, stateDelta: {} }, call.with));
      case 'count':
        return this.#count(call);
      case 'deleteSession':
        return service.deleteSession(withDefaults(KEY, call.with));
      case 'deleteUser':
        return service.deleteUser(withDefaults(USER, call.with));
      case 'deleteUserState':
        return service.deleteUserState(withDefaults(USER, call.with));
      case 'deleteAppState':
        return service.deleteAppState(withDefaults(APP, call.with));
      default:
        throw new Error(`there is no op ${JSON.stringify(call.op)}`);
    }
  }

  /** Lists a page of sessions, whose cursor `as` keeps and later pages take by its name. */
  async #listSessions(call: CaseCall) {
    const { cursor: given, ...request } = call.with;
    const cursor = given === undefined ? undefined : this.#cursor(given);
    const page = await this.#service.listSessions({ ...withDefaults(APP, request), cursor });
    const { nextCursor } = page;
    if (call.as !== undefined && nextCursor !== undefined) this.#cursors.set(call.as, nextCursor);
    return { value: { ...page, nextCursor: nextCursor !== undefined }, compare: expectPage };
  }

  /** Lists a page of events, whose cursors `as` keeps and later pages take by its name. */
  async #listEvents(call: CaseCall) {
    const { before, after, ...request } = call.with;
    const cursors = {
      ...(before !== undefined && { before: this.#cursor(before, '.before') }),
      ...(after !== undefined && { after: this.#cursor(after, '.after') }),
    };
    const page = await this.#service.listEvents({ ...withDefaults(KEY, request), ...cursors });
    if (call.as !== undefined) {
      const { before, after } = page;
      if (before !== undefined) this.#cursors.set(`${call.as}.before`, before);
      if (after !== undefined) this.#cursors.set(`${call.as}.after`, after);
    }
    const has = { before: page.before !== undefined, after: page.after !== undefined };
    return { value: { ...page, ...has }, compare: expectSession };
  }

  /** Reads events by their ids. */
  async #getEvents(call: CaseCall) {
    const request = { ...withDefaults(KEY, call.with), eventIds: call.with.eventIds as string[] };
    const { events, revision: current } = await this.#service.getEvents(request);
    const value = {
      events: events.map(({ event }) => event),
      isCurrent: events.some(({ revision }) => revision === current),
      areReplaced: events.map(({ seq, revision }) => revision > seq),
    };
    return { value, compare: expectSession };
  }

  /** Lists what a handle lacks. The result is a copy of the handle with these changes. */
  async #listChanges(call: CaseCall) {
    const service = this.#service;
    const { state, events } = this.#handle(call);
    const since = this.#revisionOf(call.handle);
    const changes = await service.listChanges({ ...withDefaults(KEY, call.with), since });
    const current = new Map(events.map((event) => [event.id, event]));
    for (const { event } of changes.events ?? []) current.set(event.id, event);
    const isComplete = changes.events !== undefined;
    const value = { state, ...changes, isComplete, events: [...current.values()] };
    return { value, compare: expectSession };
  }

  /** Returns the cursor of a page by its name, or one that no page has: `{ text }`. */
  #cursor(given: unknown, end = ''): string {
    if (typeof given !== 'string') return (given as { text: string }).text;
    const cursor = this.#cursors.get(given + end) ?? this.#cursors.get(given);
    if (cursor === undefined) throw new Error(`page ${JSON.stringify(given)} has no cursor ${end}`);
    return cursor;
  }

  /** Adds 1 to a key of the state, or fails on purpose. */
  #count({ with: { key, fails, ...request } }: CaseCall): Promise<void> {
    const name = key as string;
    const stateDelta: ComputeDelta = (state) => {
      if (fails !== undefined) throw new SessionError(fails as SessionErrorCode, 'on purpose');
      return name === '' ? {} : { [name]: Number(state[name] ?? 0) + 1 };
    };
    return this.#service.updateState(withDefaults({ ...APP, stateDelta }, request));
  }

  #storeHandle(call: CaseCall, session: Session | undefined) {
    if (call.as !== undefined && session !== undefined) this.#handles.set(call.as, session);
    return { value: session, compare: expectSession };
  }

  #handle({ handle }: { readonly handle?: unknown }): Session {
    const session = this.#handles.get(handle as string);
    if (session === undefined) throw new Error(`there is no handle ${JSON.stringify(handle)}`);
    return session;
  }

  /** Returns the present revision of the handle that a call names. */
  #expectedRevision({ with: { expectedRevision: handle } }: CaseCall): number | undefined {
    return handle === undefined ? undefined : this.#revisionOf(handle);
  }

  /** Returns the revisions of events: each is the present one of the handle that a call names. */
  #expectedEvents({ with: { expectedEvents: handles } }: CaseCall): ExpectedEvents | undefined {
    if (handles === undefined) return undefined;
    const expected = Object.entries(handles as JsonObject).map(([id, handle]) => {
      return [id, handle === null ? null : this.#revisionOf(handle)];
    });
    return Object.fromEntries(expected) as ExpectedEvents;
  }

  #revisionOf(handle: unknown): number {
    const revision = this.#service.revisionOf(this.#handle({ handle }));
    if (revision === undefined) throw new Error('the service knows no revision of the handle');
    return revision;
  }
}

function expectNumber(expected: unknown, actual: unknown): void {
  expectEqual('the number', expected, actual);
}

/** Returns the given members on top of `defaults`; `null` removes a member. */
function withDefaults<D extends object>(defaults: D, given: JsonObject): D {
  const members = Object.entries({ ...defaults, ...given });
  return Object.fromEntries(members.filter(([, value]) => value !== null)) as D;
}

function newSession({ events, ...given }: JsonObject): CreateSessionRequest & { events?: Event[] } {
  const request = withDefaults(KEY, given);
  return events === undefined
    ? request
    : { ...request, events: (events as readonly unknown[]).map(toEvent) };
}

function makeHandle({ appName, userId, sessionId: id }: typeof KEY, given: JsonObject): Session {
  const state = (given.state ?? {}) as Session['state'];
  const events = ((given.events ?? []) as readonly unknown[]).map(toEvent);
  return { id, appName, userId, state, events, lastUpdateTime: 0 };
}

/** Returns a new event with the members that the case gives. */
function toEvent(given: unknown): Event {
  const members = typeof given === 'string' ? { id: given } : (given as JsonObject);
  const empty = { invocationId: 'i', author: 'agent', timestamp: 1000 };
  return { ...empty, actions: { stateDelta: {} }, ...members } as unknown as Event;
}
