import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { inspect } from 'node:util';

import { wholeStorage } from './whole_storage.js';
import { MapStorage } from './map_storage.js';
import type { RetryReport } from './append/superseded_retries.js';
import {
  createEvent,
  type CreateSessionRequest,
  type Event,
  InMemorySessionService,
  isSessionError,
  openSessionService,
  type Session,
  type SessionError,
  type SessionErrorCode,
  type SessionServiceOptions,
  type StateShape,
  type SessionService,
} from '../../../js/index.js';
import type { Decide, StorageWriteRequest } from '../../../js/core/storage/index.js';
import type { ImportedSessionRequest } from '../../../js/values/model/session.js';

export const APP = { appName: 'app' };
export const USER = { ...APP, userId: 'user' };
export const KEY = { ...USER, sessionId: 'session' };

/** All that a session has, and all that it may have. */
export const SESSION_FIELDS = ['appName', 'events', 'id', 'lastUpdateTime', 'state', 'userId'];

/** Opens a service over a new storage. */
export type Open = (options?: SessionServiceOptions) => Promise<SessionService>;

/** Runs tests over memory, the example storage, and a slow storage. */
export function overStorages(title: string, tests: (open: Open) => void): void {
  describe(`${title}, in memory`, () => {
    tests((options) => Promise.resolve(new InMemorySessionService(options)));
  });
  describe(`${title}, in the storage of the examples`, () => {
    tests((options) => openSessionService({ ...options, storage: wholeStorage() }));
  });
  describe(`${title}, in a slow storage`, () => {
    tests((options) => openOver(new MapStorage(), options));
  });
}

/** A request with members that only an import has. The type of `createSession` lacks them. */
export function imported(request: ImportedSessionRequest): CreateSessionRequest {
  return request;
}

export function openOver(
  storage: MapStorage,
  options: SessionServiceOptions = {},
): Promise<SessionService> {
  return openSessionService({ ...options, storage });
}

/** A service with one session. */
export async function begin(
  open: Open,
  state: StateShape = {},
  options?: SessionServiceOptions,
): Promise<{ service: SessionService; session: Session }> {
  const service = await open(options);
  return { service, session: await service.createSession({ ...KEY, state }) };
}

/** Reads the stored session. */
export async function stored(
  service: SessionService,
  key: { appName: string; userId: string; sessionId: string } = KEY,
): Promise<Session> {
  const session = await service.getSession(key);
  assert.ok(session, 'the session is not there');
  return session;
}

/** An event with a text to know it by. */
export function says(text: string, stateDelta: StateShape = {}): Event {
  return createEvent({ author: 'user', content: { parts: [{ text }] }, actions: { stateDelta } });
}

/** The texts of events made by {@link says}. */
export function texts(session: Session): (string | undefined)[] {
  return session.events.map((event) => event.content?.parts?.[0]?.text);
}

/** A copy that has no part in the original, as one from a client has none. */
export function fromJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** A value for the name of a test. */
export function show(value: unknown): string {
  return inspect(value, { breakLength: Infinity, maxStringLength: 20 });
}

/** The error that `promise` must reject with. */
export async function failure(
  promise: Promise<unknown>,
  code: SessionErrorCode,
): Promise<SessionError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(isSessionError(error), `no SessionError but ${String(error)}`);
    assert.equal(error.code, code, error.message);
    return error;
  }
  assert.fail('it did not fail');
}

/** The storage's next append fails, before or after it has written. */
export function failNextAppend(
  storage: MapStorage,
  when: 'before' | 'after',
  error: unknown,
): void {
  const append = storage.append.bind(storage);
  storage.append = async (request: StorageWriteRequest, decide: Decide) => {
    storage.append = append;
    if (when === 'after') await append(request, decide);
    throw error;
  };
}

/** A call of each method that every service has. */
export function everyCall(
  service: SessionService,
  session: Session,
  event: Event,
): (() => Promise<unknown>)[] {
  return [
    () => service.createSession(USER),
    () => service.getSession(KEY),
    () => service.getOrCreateSession(KEY),
    () => service.listSessions(APP),
    () => service.deleteSession(KEY),
    () => service.deleteSessions({ ...USER, olderThan: 1 }),
    () => service.appendEvent({ session, event }),
    () => service.appendEvents({ session, events: [event] }),
    () => service.updateSession(KEY, { title: 'Tea' }),
    () => service.updateState({ ...KEY, stateDelta: {} }),
    () => service.getUserState(USER),
    () => service.getAppState(APP),
    () => service.deleteUser(USER),
    () => service.deleteUserState(USER),
    () => service.deleteAppState(APP),
  ];
}

/** Checks that a retry changed no stored data, and left the newest writes on its handle. */
export function assertUnchanged({ before, after, handle }: RetryReport): void {
  assert.deepEqual(before?.events.map(({ id }) => id).sort(), ['newer', 'older']);
  const state = { k: 'newer', 'user:k': 'newer', a: 'older', zz: { y: 1, b: 1.5 } };
  assert.deepEqual(before?.state, state);
  assert.deepEqual(after, before);
  assert.deepEqual(handle, state);
}
