import { backgroundTimer } from '../../../core/call/lifetime.js';
import { endsWithin } from '../../../core/call/time_limit.js';
import { IS_OF_USER, SHARED_SCOPES, type SharedScope } from '../../../values/state/scope.js';
import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { ServiceFeed } from '../../../core/watch/service_feed.js';
import type { Notice, Notices } from '../../../values/model/notice.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { keyOfName, nameOf } from '../records/cache_key.js';
import type { CacheStatus } from '../records/status.js';
import type { Copy } from '../records/records.js';
import type { CopyFetcher, StateFetcher } from './copy_fetcher.js';
import type { Lists } from './lists.js';
import type { CacheContext } from './context.js';

export interface FollowerParts extends CacheContext {
  readonly feed: ServiceFeed;
  readonly fetch: CopyFetcher;
  readonly lists: Lists;
  readonly states: StateFetcher;
  /** Resolves when the requests of this tab that send a session have settled. */
  readonly sending: (name: string) => Promise<void> | undefined;
}

/** The longest that a notice waits for the answer to a request, in milliseconds. */
const LONGEST_WAIT = 500;

/** Milliseconds between two looks at the feeds. */
const LOOK_MS = 5000;

/** Follows the remote's feed in the leading tab, and brings the copies up to date with its notices. */
export class Follower {
  readonly #parts: FollowerParts;
  /** The users and apps that are read, by name. */
  readonly #wanted = new Set<string>();
  readonly #watches = new Map<string, Notices>();
  /** The names whose last watch ended before any notice, with the number of recoveries when it began. */
  readonly #refused = new Map<string, number>();
  /** How often the remote became usable again, after an outage or by another login. */
  #recoveries = 0;
  #isUp = true;
  /** The names whose feed is cut, and for which the remote was asked since. */
  readonly #asked = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLeader = false;
  #isClosed = false;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    parts.board.listen((status) => this.#onStatus(status));
  }

  /**
   * Follows a user, or the app without a user.
   *
   * @returns whether it is followed for the first time
   */
  follow({ appName, userId }: StateOwner): boolean {
    const name = nameOf({ appName, userId });
    if (this.#wanted.has(name)) return false;
    this.#wanted.add(name);
    if (this.#isLeader) this.#watch(name);
    return true;
  }

  /** The names of what is followed. */
  get wanted(): ReadonlySet<string> {
    return this.#wanted;
  }

  setLeader(isLeader: boolean): void {
    this.#isLeader = isLeader;
    if (!isLeader) return this.stop();
    this.#watchWanted();
    this.#lookLater();
  }

  stop(): void {
    clearTimeout(this.#timer);
    const watches = [...this.#watches.values()];
    this.#watches.clear();
    for (const notices of watches) void notices.return();
  }

  close(): void {
    this.#isClosed = true;
    this.stop();
  }

  /** Watches again what the remote has ended, for example because a login had expired. */
  #onStatus({ isOnline, isSignedOut }: CacheStatus): void {
    const isUp = isOnline && !isSignedOut;
    if (isUp && !this.#isUp) this.#recoveries += 1;
    this.#isUp = isUp;
    if (isUp && this.#isLeader) this.#watchWanted();
  }

  /**
   * Sends one request when a feed is cut or silent, and when it is open again after an outage. Without this request, a
   * page that has nothing to send would not notice that it is offline, or online again. A feed that a proxy holds back
   * is no outage.
   */
  #look(): void {
    const { feed, remote } = this.#parts;
    for (const name of this.#watches.keys()) {
      const { appName, userId } = keyOfName(name);
      const owner = { appName, userId };
      const isOpen = feed.feed.isOpenFor?.(owner) !== false;
      const isAsked = this.#asked.has(name);
      if (isOpen) this.#asked.delete(name);
      else this.#asked.add(name);
      if (isOpen ? !this.#isUp : this.#isUp && !isAsked) void remote.checkLogin(owner);
    }
    this.#lookLater();
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || !this.#isLeader) return;
    this.#timer = backgroundTimer(() => this.#look(), LOOK_MS);
  }

  #watchWanted(): void {
    for (const name of this.#wanted) this.#watch(name);
  }

  #watch(name: string): void {
    if (this.#isClosed || this.#watches.has(name)) return;
    // A remote without a feed, or without the right to read it, is not asked with each request.
    if (this.#refused.get(name) === this.#recoveries) return;
    const { appName, userId } = keyOfName(name);
    const owner = { appName, userId };
    const { feed, report } = this.#parts;
    // The tab follows runs there. It has missed what came before, and another tab that led may have missed it too.
    if (feed.feed.isOpenFor?.(owner) === true) void this.#resync(owner).catch(report);
    const notices = feed.watch(owner, {}) as Notices;
    this.#watches.set(name, notices);
    void this.#handleNotices(name, owner, notices);
  }

  /** Handles the notices of a watch until it ends. */
  async #handleNotices(name: string, owner: StateOwner, notices: Notices): Promise<void> {
    const recoveries = this.#recoveries;
    let isOpen = false;
    for await (const notice of notices) {
      isOpen = true;
      this.#handleNotice(owner, notice).catch(this.#parts.report);
    }
    if (this.#watches.get(name) !== notices) return;
    this.#watches.delete(name);
    if (!isOpen) this.#refused.set(name, recoveries);
    await this.#parts.remote.checkLogin(owner);
  }

  async #handleNotice(owner: StateOwner, notice: Notice): Promise<void> {
    if (notice.type === 'resync' || notice.type === 'lost') return this.#resync(owner);
    const { fetch, lists, sending } = this.#parts;
    const { appName, userId } = notice;
    if (notice.type === 'stateChanged') return this.#fetchStates(notice, notice.scopes);
    if (userId === undefined) return;
    const { sessionId } = notice;
    if (sessionId === undefined) return lists.fetch(owner, true);
    const key = { appName, userId, sessionId };
    // If this tab is sending the session, the answer brings the copy up to the notice, and no fetch is needed.
    const sent = sending(nameOf(key));
    if (sent !== undefined) await endsWithin(LONGEST_WAIT, sent);
    const copy = await this.#copyOf(key);
    const hasRevision = notice.type === 'created' || notice.type === 'appended';
    if (copy === undefined) {
      if (notice.type !== 'deleted') await lists.fetch(owner);
    } else {
      if (hasRevision && copy.created !== null && notice.revision <= copy.revision) return;
      await fetch.refresh(key);
    }
    // If the session was deleted since, its fetch does not bring the shared states that it had changed.
    if (hasRevision && (await this.#copyOf(key)) === undefined) {
      await this.#fetchStates({ appName, userId }, notice.scopes);
    }
  }

  #copyOf(key: CompositeSessionKey): Promise<Copy | undefined> {
    return this.#parts.data.read(async (transaction) => (await transaction.copies.get(key))?.copy);
  }

  /** Fetches the lists or copies and the states of an owner again, because changes may have been missed. */
  async #resync(owner: StateOwner): Promise<void> {
    const { lists, states } = this.#parts;
    const isListed = await lists.hasList(owner);
    if (isListed) await lists.fetch(owner, true);
    else await this.#fetchCopies(owner);
    // A session that was read as missing has no copy. Whoever shows it reads it again.
    await this.#parts.data.write((transaction) => transaction.notify({ type: 'resync' }));
    for (const scope of SHARED_SCOPES) {
      if (IS_OF_USER[scope] && owner.userId === undefined) continue;
      const state = ownerOf(scope, owner);
      if (await states.has(state)) await states.fetchShown(state);
    }
  }

  async #fetchCopies({ appName, userId }: StateOwner): Promise<void> {
    const { data, fetch } = this.#parts;
    const copies = await data.read((transaction) => transaction.copies.copied({ appName, userId }));
    await fetch.refreshAll(copies.map(([key]) => key));
  }

  /** Fetches the states that a notice names. */
  async #fetchStates(
    { appName, userId }: StateOwner,
    scopes: readonly SharedScope[],
  ): Promise<void> {
    const { states } = this.#parts;
    for (const scope of scopes) {
      if (IS_OF_USER[scope] && userId === undefined) continue;
      await states.fetchShown(ownerOf(scope, { appName, userId }));
    }
  }
}
