// The cache over IndexedDB, against IndexedDB alone and against the remote. The remote is the handler in this page, and
// each of its responses takes 20 ms.

import { IndexedDbSessionService, InMemorySessionService } from 'adk-session-wasm';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { sessionHandler } from 'adk-session-wasm/server';

import { atMost, atMostByRound, median, timeOf, timeOfMany, timesInTurns } from '../measure.mjs';
import { eventsNow } from './stores/stores.mjs';
import { user } from './stores/user.mjs';

const LATENCY_MS = 20;
const WINDOW = 50;
const LONG = 10_000;
const SESSIONS = 50;
const APPENDS = 20;

/** A remote in this page that can be cut off. */
function openRemote() {
  const server = new InMemorySessionService();
  const handler = sessionHandler(server, {
    authorize: () => ({
      mayWriteAgentEvents: true,
      mayWriteUserState: true,
      mayWriteAppState: true,
    }),
  });
  const connection = { isCut: false };
  /** @type {typeof fetch} */
  const send = async (input, init) => {
    const request = new Request(input, init);
    await new Promise((resolve) => setTimeout(resolve, LATENCY_MS));
    if (connection.isCut) throw new TypeError('the connection is cut');
    return handler(request);
  };
  const remote = new RemoteSessionService({ url: 'http://bench', fetch: send, retries: 0 });
  return { server, remote, connection };
}

/**
 * Runs with a cache over IndexedDB, and with IndexedDB alone.
 *
 * @template Value
 * @param {(parts: ReturnType<typeof openRemote> & { cache: CachedSessionService, local: IndexedDbSessionService }) => Promise<Value>} use
 */
async function withCache(use) {
  const name = `cached-${crypto.randomUUID()}`;
  const parts = openRemote();
  const local = new IndexedDbSessionService({ name });
  const cache = new CachedSessionService({ remote: parts.remote, owner: name });
  try {
    return await use({ ...parts, cache, local });
  } finally {
    await cache.forget();
    for (const service of [cache, local, parts.remote]) await service.close();
    await IndexedDbSessionService.deleteDatabase(name);
  }
}

/** @param {InMemorySessionService | IndexedDbSessionService} service @param {string} sessionId @param {number} count */
async function fill(service, sessionId, count) {
  const session = await service.createSession({ ...user, sessionId });
  await service.appendEvents({ session, events: eventsNow(count, 0) });
  return session;
}

const alone = { unit: 'ms', than: 'IndexedDB alone' };

/**
 * Counts the transactions of IndexedDB that begin before a call returns.
 *
 * @param {() => Promise<unknown>} call
 */
async function transactionsOf(call) {
  const { prototype } = globalThis.IDBDatabase;
  const begin = prototype.transaction;
  let count = 0;
  prototype.transaction = function (...request) {
    count += 1;
    return begin.apply(this, request);
  };
  try {
    await call();
    return count;
  } finally {
    prototype.transaction = begin;
  }
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export function cachedReads() {
  return withCache(async ({ server, cache, local }) => {
    const key = { ...user, sessionId: 'read' };
    const request = { ...key, config: { numRecentEvents: WINDOW } };
    await fill(server, key.sessionId, LONG);
    await fill(local, key.sessionId, LONG);
    await cache.getSession(key);
    const times = await timesInTurns(
      {
        ours: () => timeOfMany(5, () => cache.getSession(request)),
        local: () => timeOfMany(5, () => local.getSession(request)),
      },
      { rounds: 40, warmUp: 4 },
    );
    const [ours, peer] = [median(times.ours), median(times.local)];
    const name = `the last ${WINDOW} of ${LONG} events`;
    return [
      atMost({ case: `a cached read of ${name}`, ours, peer, most: 1.2, ...alone }),
      atMost({
        case: `first paint of ${name}`,
        ours: await transactionsOf(() => cache.getSession(request)),
        peer: 1,
        unit: 'transactions',
        most: 1,
        than: 'the read itself',
      }),
    ];
  });
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export function cachedAppends() {
  return withCache(async ({ cache, local }) => {
    const key = { ...user, sessionId: 'append' };
    const session = await cache.getOrCreateSession(key);
    const localSession = await local.getOrCreateSession(key);
    let next = 0;
    const event = () => eventsNow(1, next++)[0];
    const times = await timesInTurns(
      {
        ours: () => timeOfMany(5, () => cache.appendEvent({ session, event: event() })),
        local: () => timeOfMany(5, () => local.appendEvent({ session: localSession, event: event() })), // prettier-ignore
      },
      { rounds: 40, warmUp: 4 },
    );
    const [ours, peer] = [median(times.ours), median(times.local)];
    return [atMost({ case: 'an append with outbox', ours, peer, most: 1, ...alone })];
  });
}

/**
 * Sends what waits: 20 events in each of 50 sessions. The best possible is one request a session, all at once. Events
 * that write one shared key are sent in the order of their writes. They are written in turns here, so the best possible
 * is one request an event, one after the other.
 *
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export async function drain() {
  const nameOf = (/** @type {number} */ appends) => `draining ${SESSIONS * appends} appends in ${SESSIONS} sessions`; // prettier-ignore
  const apart = { case: nameOf(APPENDS), than: 'one request a session, all at once' };
  const shared = { case: `${nameOf(2)} that write one shared key`, than: 'one request an event, one after the other' }; // prettier-ignore
  return [await drained(APPENDS, false, apart), await drained(2, true, shared)];
}

/**
 * @param {number} appends those in each session
 * @param {boolean} isShared whether the events write shared keys
 * @param {{ case: string, than: string }} names
 */
function drained(appends, isShared, names) {
  return withCache(async ({ server, remote, cache, connection }) => {
    const ids = Array.from({ length: SESSIONS }, (_, number) => `drain ${number}`);
    const sessions = await Promise.all(ids.map((sessionId) => cache.createSession({ ...user, sessionId }))); // prettier-ignore
    const best = await Promise.all(ids.map((id) => remote.createSession({ ...user, sessionId: `best ${id}` }))); // prettier-ignore
    await cache.sync();
    let next = 0;
    /** @param {number} count */
    const nextEvents = (count) => {
      const events = eventsNow(count, next);
      next += count;
      if (!isShared) for (const { actions } of events) actions.stateDelta = { step: next };
      return events;
    };
    const ours = async () => {
      connection.isCut = true;
      await Promise.all(
        sessions.map(async (session) => {
          for (let count = 0; count < appends; count += 1) {
            await cache.appendEvent({ session, event: nextEvents(1)[0] });
          }
        }),
      );
      connection.isCut = false;
      return timeOf(() => cache.sync());
    };
    /** @param {(typeof best)[number]} session */
    const send = (session) =>
      remote.appendEvents({ session, events: nextEvents(isShared ? 1 : appends) });
    const direct = () =>
      timeOf(async () => {
        if (!isShared) await Promise.all(best.map(send));
        else for (let count = 0; count < appends; count += 1) for (const session of best) await send(session); // prettier-ignore
      });
    const times = await timesInTurns({ ours, direct }, { rounds: 5, warmUp: 1 });
    const stored = await server.getSession({ ...user, sessionId: 'drain 0' });
    if (stored?.events.length !== 6 * appends) throw new Error('not everything was sent');
    return atMostByRound({ ...names, ours: times.ours, peer: times.direct, unit: 'ms', most: 2 });
  });
}
