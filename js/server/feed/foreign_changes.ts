import { backoff } from '../../core/call/scheduling.js';
import { isSessionError } from '../../values/errors/errors.js';
import { pause } from '../../stores/http/call_limit.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import { putLast } from '../../values/bounded_map.js';
import type { ServiceCore } from '../../service/service_core.js';
import type { ChangedRows, StateRevision } from '../../core/storage/storage.js';
import type { SharedScope } from '../../values/state/scope.js';
import { ownerOf, scopeOf, type StateOwner } from '../../core/storage/scopes.js';
import type { Notice } from '../../values/model/notice.js';
import { stateNotice } from '../../core/watch/watcher.js';

/** Milliseconds from one question to the database to the next. */
const INTERVAL_MS = 1000;

/** The longest pause after failures, in milliseconds. */
const LONGEST_PAUSE_MS = 30_000;

/** A question that takes long is asked less often: it takes at most this part of the time. */
const MAX_LOAD = 0.25;

/**
 * How far a question reaches back before the one before it, in milliseconds. Clocks differ, and a transaction commits
 * later than the time that it writes.
 */
const LOOK_BACK_MS = 10_000;

/** The most sessions, and the most users, whose revisions are remembered. */
const MAX_REMEMBERED = 20_000;

/** How a question ended. */
interface Attempt {
  readonly hasFailed: boolean;
  /** Whether no other question follows. */
  readonly isLast: boolean;
  /** Milliseconds that it took. */
  readonly took: number;
}

/** A shared state that is asked for. */
interface AskedState {
  readonly owner: StateOwner;
  /** The revision at which it was last written, as far as this service knows. */
  readonly written: number | undefined;
}

/** What {@link ForeignChanges} needs from the log of an app. */
export interface ForeignListener {
  /** The users whose feeds are open. */
  readonly users: ReadonlySet<string>;
  push(notices: readonly Notice[]): void;
  report(error: unknown): void;
}

/**
 * Finds changes that other programs make in a database, while somebody listens: asks at most once a second which
 * sessions and states have later times. Changes of this service, and those that a channel has told, are known by their
 * revisions. Over other storages it does nothing.
 */
export class ForeignChanges {
  readonly #core: ServiceCore;
  readonly #appName: string;
  readonly #listener: ForeignListener;
  /** The time of the last question that was answered. */
  #askedAt: number | undefined;
  #isSupported = true;
  /** Whether feeds have begun although nothing was answered. */
  #hasMissed = false;
  /** The last known revision of each session: that of a notice, or of an answer. */
  readonly #sessions = new Map<string, number>();
  /** The revisions of shared states, by user; the app's stands under ''. */
  readonly #states = new Map<string, number>();
  /** The revisions of shared states that were told as another program's, by user. */
  readonly #toldStates = new Map<string, number>();
  #running: { readonly stop: AbortController; readonly first: Promise<unknown> } | undefined;
  /** Reads the states of users whose feeds begin at the same moment. */
  #readingStates: Promise<unknown> | undefined;

  constructor(core: ServiceCore, appName: string, listener: ForeignListener) {
    this.#core = core;
    this.#appName = appName;
    this.#listener = listener;
  }

  /**
   * Begins to ask if nobody has listened before.
   *
   * @param userId the user of a new feed
   * @returns a promise that resolves when all later changes will be noticed
   */
  async start(userId: string | undefined): Promise<void> {
    this.#running ??= this.#run();
    const { stop, first } = this.#running;
    await first;
    if (userId === undefined || this.#askedAt === undefined || this.#states.has(userId)) return;
    this.#readingStates ??= Promise.resolve().then(() => {
      this.#readingStates = undefined;
      return this.#ask(false, stop.signal);
    });
    await this.#readingStates.catch(() => (this.#hasMissed = true));
  }

  stop(): void {
    this.#running?.stop.abort();
    this.#running = undefined;
  }

  /** Notes a notice of this service, or of another process by the channel. @returns whether it tells something new */
  note(notice: Notice): boolean {
    if (!this.#isSupported || !('scopes' in notice)) return true;
    const isNewState = notice.scopes.some((scope) => !this.#hasToldOwn(scope, notice));
    if (notice.type === 'stateChanged') return isNewState;
    const { userId, sessionId, revision } = notice;
    return this.#noteSession(userId, sessionId, revision) !== undefined || isNewState;
  }

  /**
   * Whether the last own write of a state was told as another program's: a question saw it before the service had the
   * answer of the storage.
   */
  #hasToldOwn(scope: SharedScope, names: StateOwner): boolean {
    const written = this.#core.publisher.feed.stateRevisions.of(scope, names);
    // All deletions have the revision 0, so the one that was told may be an earlier one.
    if (written === undefined || written === 0) return false;
    return this.#toldStates.get(ownerOf(scope, names).userId ?? '') === written;
  }

  #run(): { readonly stop: AbortController; readonly first: Promise<unknown> } {
    const stop = new AbortController();
    const first = this.#attempt(stop.signal, false);
    void this.#repeat(first, stop.signal);
    return { stop, first };
  }

  async #repeat(first: Promise<Attempt>, signal: HostAbortSignal): Promise<void> {
    let failures = 0;
    for (let attempt = first; ; attempt = this.#attempt(signal, failures > 0)) {
      const { hasFailed, isLast, took } = await attempt;
      if (isLast) return;
      failures = hasFailed ? failures + 1 : 0;
      const wait = hasFailed
        ? backoff(failures, INTERVAL_MS, LONGEST_PAUSE_MS)
        : Math.max(INTERVAL_MS, took / MAX_LOAD);
      await pause(wait, signal).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  /** @param isReported whether the failure of the attempt before was reported */
  async #attempt(signal: HostAbortSignal, isReported: boolean): Promise<Attempt> {
    const begun = performance.now();
    try {
      await this.#ask(true, signal);
      const isLast = signal.aborted || !this.#isSupported;
      return { hasFailed: false, isLast, took: performance.now() - begun };
    } catch (error) {
      const isLast = signal.aborted || isSessionError(error, 'closed');
      if (!isLast && !isReported) this.#listener.report(error);
      this.#hasMissed ||= this.#askedAt === undefined;
      return { hasFailed: true, isLast, took: 0 };
    }
  }

  /** @param withSessions whether sessions are asked for, and not only the states of users */
  async #ask(withSessions: boolean, signal: HostAbortSignal): Promise<void> {
    const now = this.#core.clock();
    const since = withSessions ? Math.min(now, this.#askedAt ?? now) - LOOK_BACK_MS : undefined;
    const users = [...this.#listener.users];
    this.#core.calls.requireOpen();
    const request = { appName: this.#appName, since, users };
    const call = { signal };
    const states = this.#askedStates(users);
    const changed = await this.#core.callStore<ChangedRows | undefined>(call, (store) =>
      store.changes?.(request, call),
    );
    this.#isSupported = changed !== undefined;
    if (changed === undefined || signal.aborted) return;
    const ofStates = this.#statesIn(changed, states);
    const ofSessions = withSessions ? this.#sessionsIn(changed) : [];
    if (withSessions) this.#askedAt = now;
    this.#listener.push([...ofStates, ...ofSessions]);
  }

  #sessionsIn({ sessions }: ChangedRows): Notice[] {
    const notices: Notice[] = [];
    const appName = this.#appName;
    for (const { userId, sessionId, revision, isNew } of sessions ?? []) {
      const last = this.#noteSession(userId, sessionId, revision);
      if (last === undefined) continue;
      const type = isNew && last === 0 ? 'created' : 'appended';
      notices.push({ type, appName, userId, sessionId, revision, scopes: [] });
    }
    const mustResync = sessions === undefined || this.#hasMissed;
    this.#hasMissed = false;
    if (mustResync) return [{ type: 'resync' }];
    // The first answer tells what was changed before anybody listened.
    return this.#askedAt === undefined ? [] : notices;
  }

  /** Returns the shared states of the app and of some users, as this service has written them before a question. */
  #askedStates(users: readonly string[]): AskedState[] {
    const owners = [...users, undefined].map((userId) => ({ appName: this.#appName, userId }));
    return owners.map((owner) => ({ owner, written: this.#writtenRevision(owner) }));
  }

  #writtenRevision(owner: StateOwner): number | undefined {
    return this.#core.publisher.feed.stateRevisions.of(scopeOf(owner), owner);
  }

  #statesIn({ app, users }: ChangedRows, asked: readonly AskedState[]): Notice[] {
    const changed = asked.filter(({ owner, written }) => {
      const { userId } = owner;
      return this.#isForeign(owner, userId === undefined ? app : users.get(userId), written);
    });
    return changed.map(({ owner }) => stateNotice(owner.appName, owner.userId, [scopeOf(owner)]));
  }

  /** @returns the revision that was known before, or 0; `undefined` if the given one is not later */
  #noteSession(userId: string, sessionId: string, revision: number): number | undefined {
    const name = JSON.stringify([userId, sessionId]);
    const last = this.#sessions.get(name) ?? 0;
    putLast(this.#sessions, name, Math.max(last, revision), MAX_REMEMBERED);
    return revision > last ? last : undefined;
  }

  /**
   * Notes the revision of a state.
   *
   * @param before what this service had written before the question
   * @returns whether another program has changed the state
   */
  #isForeign(
    owner: StateOwner,
    state: StateRevision | undefined,
    before: number | undefined,
  ): boolean {
    const { revision, isEmpty } = state ?? { revision: 0, isEmpty: true };
    const name = owner.userId ?? '';
    const last = this.#states.get(name);
    const written = this.#writtenRevision(owner);
    // A write of this service during the question has a notice of its own. The next question finds what came after it.
    if (last !== undefined && written !== before) return false;
    putLast(this.#states, name, revision, MAX_REMEMBERED);
    if (last === undefined || last === revision || (last === 0 && isEmpty)) return false;
    if (written === revision) return false;
    putLast(this.#toldStates, name, revision, MAX_REMEMBERED);
    return true;
  }
}
