import { backoff } from '../call/backoff.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import { retryAfterOf } from '../http/http_errors.js';
import { newEventId } from '../model/event/create_event.js';
import type { CompositeSessionKey } from '../model/session.js';
import { isShared, REMOVED } from '../state/scope.js';
import type { StateShape } from '../state/state_shape.js';
import type { StorageDeleteRequest } from '../storage/adapter.js';
import type { StateOwner } from '../storage/scopes.js';
import { APPENDED, STALE_POLICIES } from '../wasm/protocol.js';
import { confirmedUntil, type Fetch } from './copies/fetch.js';
import type { Lease } from './records/lease.js';
import type { LocalCopies } from './copies/local_copies.js';
import type { Pending } from './records/pending.js';
import { type UnsentEvent, sharedKeysOf } from './copies/rebase.js';
import { CLEAR, hasOperations, isSent, keyOfName, nameOf, type Noted, type OwnerRecords, ownerOf, recordedIds, recordOf, type Records, type Refusal, SET, STATE_REFUSED } from './records/records.js'; // prettier-ignore
import {
  closedError,
  failureOf,
  isRefusal,
  type RemoteEnd,
  remoteRevision,
} from './copies/remote_end.js';
import type { CacheKey, StatusBoard } from './records/status.js';

/** The most sessions that are sent at once. */
const MOST_AT_ONCE = 50;
/** The most events, and about the most characters, of one request. */
const MAX_EVENTS = 100;
const MAX_CHARACTERS = 500_000;
/** The first and the longest pause after a failure, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;

/** Thrown when another tab sends by now. */
const LEASE_LOST = new Error('Another tab sends.');

export interface SenderParts {
  readonly local: LocalCopies;
  readonly remote: RemoteEnd;
  readonly records: Records;
  readonly fetch: Fetch;
  readonly pending: Pending;
  readonly lease: Lease;
  readonly board: StatusBoard;
  readonly clock: () => number;
  /** Whether a title that an event gave its session is sent with it. */
  readonly autoTitle: boolean;
  readonly report: (error: unknown) => void;
  /** Tells the other tabs that something of this key was sent or set aside. */
  readonly tell: (key: CacheKey) => void;
  /** Tells the other tabs that they may send. */
  readonly tellIdle: () => void;
}

interface Waiter {
  /** The number of the run that was under way, whose failure says nothing about a later one. */
  readonly run: number;
  readonly names: Set<string>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Sends what waits: sessions in parallel, each one's changes in order. */
export class Sender {
  /** Names this sender in messages to the other tabs. */
  readonly id = newEventId();
  readonly #parts: SenderParts;
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #waiters = new Set<Waiter>();
  #running: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The number of runs that have begun. */
  #runs = 0;
  /** The number of runs that failed, one after the other. */
  #failures = 0;
  #failure: unknown;
  /** Called when there may be more to start. */
  #onProgress: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Starts to send at once, also if it was waiting after a failure. */
  wake(): void {
    if (this.#isClosed) return;
    this.#clearTimer();
    this.#onProgress?.();
    const run = (): Promise<void> =>
      this.#run().catch((error: unknown) => this.#noteFailure(error));
    this.#running ??= run().then(() => {
      this.#running = undefined;
      // Something came after the last look.
      const isIdle = this.#timer === undefined && this.#failure === undefined;
      if (isIdle && this.#parts.pending.ready().length > 0) this.wake();
    });
  }

  /** Looks again later: the other tab that sends may end. */
  wakeLater(milliseconds: number): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.wake(), milliseconds);
    // In Node the timer alone does not keep the program running, if no call waits for it.
    if (this.#waiters.size === 0) (this.#timer as { unref?: () => void }).unref?.();
  }

  /**
   * Waits until all of these are sent or set aside.
   *
   * @throws SessionError the reason why one cannot be sent now
   */
  deliver(keys: readonly CacheKey[]): Promise<void> {
    const { pending } = this.#parts;
    const names = new Set(keys.map(nameOf).filter((name) => pending.has(name)));
    const done = new Promise<void>((resolve, reject) => {
      this.#waiters.add({ run: this.#runs, names, resolve, reject });
    });
    this.#settle();
    if (this.#isClosed) this.#fail(closedError(), Infinity);
    this.wake();
    return done;
  }

  /** Reads what waits of all users, also what an earlier visit left. */
  async scan(): Promise<void> {
    for (const owner of await this.#parts.records.owners()) await this.#scanOwner(owner);
  }

  async #scanOwner(owner: StateOwner): Promise<void> {
    const { records, local } = this.#parts;
    const all = await records.read(owner);
    await this.lookAt(owner, all);
    const { appName, userId } = owner;
    if (userId === undefined) return;
    const listed = await local.list(appName, userId);
    const copies = new Map(listed.map((copy) => [copy.sessionId, copy]));
    for (const sessionId of new Set([...recordedIds(all), ...copies.keys()])) {
      const record = recordOf(all, sessionId);
      if (isSent(record, copies.get(sessionId))) continue;
      await this.lookAt({ appName, userId, sessionId });
    }
  }

  /** Reads what waits of a session or state. */
  async lookAt(key: CacheKey, given?: OwnerRecords): Promise<void> {
    const { records, local, pending } = this.#parts;
    const name = nameOf(key);
    const version = pending.versionOf(name);
    if (!isSession(key)) {
      const all = given ?? (await records.read(ownerOf(key)));
      const sets = Object.keys(all).filter((record) => record.startsWith(SET));
      const clears = Object.keys(all).filter((record) => record.startsWith(CLEAR));
      const isRefused = all[STATE_REFUSED] !== undefined;
      const keys = new Set(sets.map((record) => record.slice(SET.length)));
      if (sets.length + clears.length > 0) pending.set(key, 0, keys, isRefused);
      else pending.remove(name, version);
      this.#settle();
      return;
    }
    const record = await local.recordFor(key, await local.head(key));
    // A copy whose base is not noted yet may have unsent events.
    const copy = await local.changedSince(key, record.base?.local ?? 0);
    const events = copy?.events ?? [];
    const isRefused = record.refused !== undefined;
    if (events.length > 0 || hasOperations(record) || isRefused) {
      pending.set(key, events.length, sharedKeysOf(events.map(({ snapshot }) => snapshot)), isRefused); // prettier-ignore
    } else {
      pending.remove(name, version);
    }
    this.#settle();
  }

  /** Sets a session or state aside. */
  async refuse(key: CacheKey, refusal: Refusal): Promise<void> {
    const { records, report } = this.#parts;
    if (isSession(key)) await records.writeSession(key, { refused: refusal });
    else await records.write(key, { [STATE_REFUSED]: refusal });
    report(new SessionError(refusal.code, refusal.message));
    await this.lookAt(key);
    this.#parts.tell(key);
  }

  /** Ends the sending. What is under way settles. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#clearTimer();
    this.#onProgress?.();
    await this.#running?.catch(() => undefined);
    this.#fail(closedError(), Infinity);
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #run(): Promise<void> {
    const { lease, board } = this.#parts;
    this.#failure = undefined;
    this.#runs += 1;
    // Changes that are made in the same moment are sent together.
    await Promise.resolve();
    if (this.#parts.pending.ready().length === 0) return this.#settle();
    try {
      await this.#sendAll();
    } catch (error) {
      this.#noteFailure(error);
    }
    await Promise.all(this.#inFlight.values());
    if (board.status.isSending) board.set({ isSending: false });
    await lease.release().catch((error: unknown) => this.#noteFailure(error));
    const failure: unknown = this.#failure;
    if (failure === undefined) return this.#parts.tellIdle();
    if (failure === LEASE_LOST) return this.#waitForLease();
    this.#fail(failure, this.#runs);
    if (this.#waiters.size > 0) {
      this.#failure = undefined;
      return;
    }
    const pause = backoff(this.#failures, FIRST_PAUSE, LONGEST_PAUSE);
    this.#failures = Math.min(this.#failures + 1, 20);
    this.wakeLater(Math.max(pause, retryAfterOf(failure)));
  }

  async #sendAll(): Promise<void> {
    const { pending, lease, board } = this.#parts;
    while (!this.#isClosed && this.#failure === undefined) {
      const names = pending.ready().filter((name) => !this.#inFlight.has(name));
      if (names.length === 0 && this.#inFlight.size === 0) return;
      if (!(await lease.acquire())) {
        this.#failure = LEASE_LOST;
        return;
      }
      if (!board.status.isSending) board.set({ isSending: true });
      const progress = new Promise<void>((resolve) => (this.#onProgress = resolve));
      for (const name of names.slice(0, MOST_AT_ONCE - this.#inFlight.size)) this.#start(name);
      await progress;
    }
  }

  #waitForLease(): void {
    this.wakeLater(this.#parts.lease.wait + 50 + Math.random() * 200);
  }

  async #requireLease(): Promise<void> {
    if (!(await this.#parts.lease.acquire())) throw LEASE_LOST;
  }

  #start(name: string): void {
    const { pending } = this.#parts;
    const key = keyOfName(name);
    const version = pending.versionOf(name);
    const send = isSession(key)
      ? this.#parts.fetch.turns.run(name, () => this.#sendSession(key))
      : this.#sendState(key);
    const done = send
      .then(
        () => {
          this.#failures = 0;
          // A change that came meanwhile is looked at again.
          if (pending.versionOf(name) !== version) return this.lookAt(key);
          if (pending.isReady(name)) pending.remove(name, version);
          return this.#parts.tell(key);
        },
        (error: unknown) => this.#noteFailure(error),
      )
      .catch((error: unknown) => this.#noteFailure(error))
      .then(() => {
        this.#inFlight.delete(name);
        this.#settle();
        this.#onProgress?.();
      });
    this.#inFlight.set(name, done);
  }

  #noteFailure(error: unknown): void {
    this.#failure ??= error;
    if (this.#isClosed || error === LEASE_LOST) return;
    this.#parts.report(error);
  }

  async #sendSession(key: CompositeSessionKey): Promise<void> {
    const { records, local, remote } = this.#parts;
    let record = await records.session(key);
    if (record.refused !== undefined) return;
    if (record.delete !== undefined) {
      await this.#ask(key, (store) => store.delete({ what: 'session', key }, remote.call));
      // Another tab may have fetched it meanwhile. A session that is created again has its record before its copy.
      this.#parts.pending.noteDeletion(key);
      await local.deleteFetched(key);
      await records.remove(ownerOf(key), { [`delete ${key.sessionId}`]: record.delete });
    }
    let head = await local.head(key);
    record = await local.recordFor(key, head);
    if (head === undefined) {
      // It was deleted before it was sent. A creation that is under way notes it again.
      const { create, title, labels } = record;
      const names = { create, title, labels };
      const sent = Object.entries(names).map(([kind, value]) => [`${kind} ${key.sessionId}`, value] as const); // prettier-ignore
      await records.remove(ownerOf(key), Object.fromEntries(sent));
      return;
    }
    for (let size = MAX_EVENTS; ;) {
      head = await local.head(key);
      record = await local.recordFor(key, head);
      if (head === undefined || record.refused !== undefined || record.delete !== undefined) return;
      if (record.base === undefined) {
        if (!(await this.#createOrAdopt(key))) return;
        continue;
      }
      const { created, revision, local: since } = record.base;
      const copy = await local.changedSince(key, since);
      if (copy?.head.created !== head.created) return;
      if (copy.events.length === 0) break;
      const batch = batchOf(copy.events, size);
      const request = {
        key,
        position: { created: created ?? NaN, revision, lastEventId: undefined },
        policy: STALE_POLICIES.merge,
        events: batch.map(({ snapshot }) => snapshot),
        firstTitle: this.#parts.autoTitle ? copy.head.title || undefined : undefined,
        now: this.#parts.clock(),
        ...remote.call,
      };
      try {
        await this.#requireLease();
        const answer = await remote.ask((store) => store.append(request));
        const rest = copy.events.slice(batch.length);
        const isMissing = (answer[APPENDED.missed] ?? []).length > 0;
        if (isMissing) {
          await this.#parts.fetch.copyInTurn(key);
          continue;
        }
        const base = {
          ...record.base,
          id: newEventId(),
          revision: answer[APPENDED.revision],
          local: confirmedUntil(copy.head.revision, rest),
        };
        await records.writeBase(key, base, record.base);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        if (isSessionError(error, 'not_found') || isSessionError(error, 'stale_session')) {
          await this.#parts.fetch.copyInTurn(key);
          const next = await local.recordFor(key, head);
          if (next.refused === undefined && next.base?.revision === revision) throw error;
        } else if (batch.length > 1) {
          size = Math.ceil(batch.length / 2);
        } else {
          return this.refuse(key, { ...failureOf(error), eventId: batch[0]!.snapshot.id });
        }
      }
    }
    await this.#sendDescription(key);
  }

  /** Creates the session on the remote. One that is there, from another device, gets the unsent events. */
  async #createOrAdopt(key: CompositeSessionKey): Promise<boolean> {
    const { records, local, remote, clock } = this.#parts;
    const head = await local.head(key);
    const { create } = await local.recordFor(key, head);
    if (create === undefined) return this.#adopt(key);
    const copy = await local.changedSince(key, 0);
    if (copy === undefined || copy.head.created !== head?.created) return false;
    const {
      state,
      delta,
      events: count,
      title,
      labels,
      lastUpdateTime,
      sharesState,
    } = create.value;
    const first = copy.events.slice(0, count);
    const request = {
      ...{ key, state, delta, lastUpdateTime, sharesState, now: clock(), ...remote.call },
      events: first.map(({ snapshot }) => snapshot),
      description: { title, labels, initialState: ownKeys(state) },
    };
    const created = await this.#ask(key, (store) => store.create(request, true));
    if (created === undefined) return false;
    if (created.answer === undefined) return this.#adopt(key);
    const [createdAt, revision, time] = created.answer;
    const base = {
      id: newEventId(),
      ...remoteRevision(createdAt, revision, time),
      copy: copy.head.created,
      local: confirmedUntil(copy.head.revision, copy.events.slice(count)),
      usedAt: clock(),
    };
    await records.writeBase(key, base, undefined, { create: undefined });
    return true;
  }

  /** Brings the copy up to a session that the remote has. Returns whether the copy has a base then. */
  async #adopt(key: CompositeSessionKey): Promise<boolean> {
    const { local, fetch } = this.#parts;
    await fetch.copyInTurn(key, Infinity);
    const { base } = await local.recordFor(key, await local.head(key));
    return base !== undefined;
  }

  async #sendDescription(key: CompositeSessionKey): Promise<void> {
    const { records, remote } = this.#parts;
    const { title, labels } = await records.session(key);
    if (title === undefined && labels === undefined) return;
    const description = { key, title: title?.value, labels: labels?.value };
    const sent = await this.#ask(key, (store) =>
      store.describe({ ...description, ...remote.call }),
    );
    if (sent === undefined) return;
    if (sent.answer === false) {
      const message = `Session ${JSON.stringify(key.sessionId)} was deleted on the remote before its title was sent.`;
      return this.refuse(key, { code: 'not_found', message });
    }
    const { sessionId } = key;
    await records.remove(ownerOf(key), { [`title ${sessionId}`]: title, [`labels ${sessionId}`]: labels }); // prettier-ignore
  }

  async #sendState(owner: StateOwner): Promise<void> {
    const { records, remote } = this.#parts;
    const all = await records.read(owner);
    if (all[STATE_REFUSED] !== undefined) return;
    const { appName, userId } = owner;
    for (const what of ['user', 'userState', 'appState'] as const) {
      const clear = all[CLEAR + what] as Noted<true> | undefined;
      if (clear === undefined) continue;
      const request = { what, key: what === 'appState' ? { appName } : { appName, userId } };
      const done = await this.#ask(owner, (store) => store.delete(request as StorageDeleteRequest, remote.call)); // prettier-ignore
      if (done === undefined) return;
      await records.remove(owner, { [CLEAR + what]: clear });
    }
    const sets = Object.entries(all).filter(([name]) => name.startsWith(SET)) as [string, Noted<unknown>][]; // prettier-ignore
    if (sets.length === 0) return;
    const delta = JSON.stringify(
      Object.fromEntries(sets.map(([name, { value }]) => [name.slice(SET.length), value])),
    );
    const done = await this.#ask(owner, (store) =>
      store.update(appName, userId, delta, remote.call),
    );
    if (done !== undefined) await records.remove(owner, Object.fromEntries(sets));
  }

  /** Asks the remote. Returns `undefined` if it refused, and the session or state was set aside. */
  async #ask<T>(
    key: CacheKey,
    run: Parameters<typeof RemoteEnd.prototype.ask<T>>[0],
  ): Promise<{ readonly answer: T } | undefined> {
    await this.#requireLease();
    try {
      return { answer: await this.#parts.remote.ask(run) };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await this.refuse(key, failureOf(error));
      return undefined;
    }
  }

  /** Settles the calls that wait for what is sent or set aside by now. */
  #settle(): void {
    const { pending } = this.#parts;
    for (const waiter of this.#waiters) {
      for (const name of waiter.names) {
        if (pending.isReady(name)) continue;
        waiter.names.delete(name);
      }
      if (waiter.names.size === 0 && this.#waiters.delete(waiter)) waiter.resolve();
    }
  }

  /** Rejects the calls that have waited since before a run. */
  #fail(error: unknown, before: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.run < before && this.#waiters.delete(waiter)) waiter.reject(error);
    }
  }
}

export function isSession(key: CacheKey): key is CompositeSessionKey {
  return key.sessionId !== undefined;
}

function batchOf(events: readonly UnsentEvent[], most: number): readonly UnsentEvent[] {
  let size = 0;
  const end = events.findIndex(({ snapshot }, index) => {
    size += snapshot.text.length;
    return index > 0 && (index >= most || size > MAX_CHARACTERS);
  });
  return end < 0 ? events : events.slice(0, end);
}

/** Returns the JSON of the session's own keys of an initial state. */
function ownKeys(state: string): string {
  const values = Object.entries(JSON.parse(state) as StateShape);
  const own = values.filter(([key, value]) => !isShared(key) && value !== REMOVED);
  return JSON.stringify(Object.fromEntries(own));
}
