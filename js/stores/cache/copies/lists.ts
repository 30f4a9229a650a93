import type { CompositeSessionKey } from '../../../values/model/session.js';
import { ownerOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { TimedPlace } from '../../../core/storage/list_place.js';
import type { ListedSession, ReadList } from '../../../core/storage/store.js';
import { SHARED_SCOPES } from '../../../values/state/scope.js';
import { nameOf } from '../records/cache_key.js';
import { GroupedQueue } from './grouped_queue.js';
import { applyGone, listedSession, applyListed, applyState } from './copy_writer.js';
import { type CopyFetcher, type FetchParts, beginFetch } from './copy_fetcher.js';
import { splitByScope } from '../../../values/state/keys.js';

/** The sessions on a page of a list that is only searched for changes. */
const PAGE = 5;

export interface ListParts extends FetchParts {
  readonly fetch: CopyFetcher;
  readonly maxSessions: number;
}

/** Brings lists of sessions up to date with the remote. */
export class Lists {
  readonly #parts: ListParts;
  /** The fetches of each list, one after the other. */
  readonly queue = new GroupedQueue<() => Promise<void>>(([fetch]) => fetch());
  /** The lists that this tab has fetched as a whole. */
  readonly #whole = new Set<string>();

  constructor(parts: ListParts) {
    this.#parts = parts;
  }

  /**
   * Brings the copies of a user, or of all users of an app, up to date with the remote's list. A session without a copy
   * gets one without events. Calls that come before the fetch begins share it.
   *
   * @param isWhole whether all sessions are listed; otherwise the newest pages, until one has no change
   */
  fetch(owner: StateOwner, isWhole = false): Promise<void> {
    const name = nameOf(owner);
    return this.queue.call(`${name} ${isWhole}`, () => this.#fetch(owner, isWhole));
  }

  /** Whether a list was fetched, ever. */
  hasList(owner: StateOwner): Promise<boolean> {
    return this.#parts.data.read((transaction) => transaction.hasList(owner));
  }

  /** Called when the local data is gone, or when the remote's changes may have been missed. */
  forget(): void {
    this.#whole.clear();
  }

  async #fetch(owner: StateOwner, isWhole: boolean): Promise<void> {
    const name = nameOf(owner);
    const { maxSessions } = this.#parts;
    if (!isWhole && this.#whole.has(name) && (await this.#fetchNewest(owner))) return;
    const began = await beginFetch(this.#parts);
    const list = await this.#page(owner, maxSessions);
    const { sessions, total } = list;
    const { changed } = await this.#take(owner, list, began);
    if (total <= sessions.length) await this.#removeOthers(owner, sessions, began);
    await this.#parts.fetch.refreshAll(changed);
    await this.#parts.data.write((transaction) => transaction.noteList(owner));
    this.#whole.add(name);
  }

  /**
   * Lists the newest sessions, until a page has only such as are known.
   *
   * @returns `false` if the number of sessions shows that others were deleted
   */
  async #fetchNewest(owner: StateOwner): Promise<boolean> {
    const { data, fetch, maxSessions } = this.#parts;
    let after: TimedPlace | undefined;
    for (let count = 0; count < maxSessions; count += PAGE) {
      const began = await beginFetch(this.#parts);
      const list = await this.#page(owner, PAGE, after);
      const { sessions, total } = list;
      const { changed, hasNews } = await this.#take(owner, list, began);
      await fetch.refreshAll(changed);
      if ((changed.length > 0 || hasNews) && sessions.length === PAGE) {
        after = sessions.at(-1);
        continue;
      }
      if (count > 0) return true;
      const copies = await data.read((transaction) => transaction.copies.copied(owner));
      return total === copies.length || total > maxSessions;
    }
    return true;
  }

  #page({ appName, userId }: StateOwner, limit: number, after?: TimedPlace): Promise<ReadList> {
    const list = { appName, userId, order: 'desc', orderBy: 'lastUpdateTime' } as const;
    const page = { offset: 0, limit, after, withTotal: after === undefined };
    return this.#parts.remote.request((store, call) => store.list({ ...list, ...page }, call));
  }

  /** @returns the sessions that are to be fetched, and whether a reader sees others or other states than before */
  async #take(
    { appName, userId }: StateOwner,
    { sessions, shared }: ReadList,
    began: number,
  ): Promise<{ readonly changed: readonly CompositeSessionKey[]; readonly hasNews: boolean }> {
    const { limits, clock } = this.#parts;
    const listed = sessions
      .filter(({ isDamaged }) => !isDamaged)
      .map((session) => {
        const key = { appName, userId: session.userId, sessionId: session.sessionId };
        return { key, session: listedSession(session) };
      });
    const hasStates = sessions.some(({ created }) => created > 0);
    const { changed, overtaken, hasNews } = await limits.store(
      undefined,
      began,
      async (transaction) => {
        const changed: CompositeSessionKey[] = [];
        for (const { key, session } of listed) {
          if (await applyListed(transaction, key, session, began, clock())) changed.push(key);
        }
        const overtaken: StateOwner[] = [];
        const states: [StateOwner, string | undefined][] = [[{ appName }, shared.app]];
        for (const [user, state] of shared.users) {
          if (userId === undefined || user === userId)
            states.push([{ appName, userId: user }, state]);
        }
        states.push(...shownStates(listed));
        for (const [owner, state] of states) {
          // Without a session the list tells nothing, and some servers list sessions without states.
          if (state === undefined || (!hasStates && state === '{}') || sessions.length === 0)
            continue;
          if (!(await applyState(transaction, owner, state, began))) overtaken.push(owner);
        }
        return { changed, overtaken, hasNews: transaction.hasNotices };
      },
    );
    if (hasNews) limits.checkSoon();
    await this.#parts.states.fetchOvertaken(overtaken);
    return { changed, hasNews };
  }

  /** Removes the copies of sessions that a whole list does not have. */
  async #removeOthers(
    owner: StateOwner,
    sessions: readonly ListedSession[],
    began: number,
  ): Promise<void> {
    const listed = new Set(
      sessions.map(({ userId, sessionId }) =>
        nameOf({ appName: owner.appName, userId, sessionId }),
      ),
    );
    await this.#parts.limits.store(undefined, began, async (transaction) => {
      for (const [key, record] of await transaction.copies.copied(owner)) {
        const isGone = record.confirmedAt <= began && !listed.has(nameOf(key));
        if (isGone) await applyGone(transaction, key, record);
      }
    });
  }
}

/** Returns the states that some servers show only in sessions. The first session is the newest: its values count. */
function shownStates(
  listed: readonly {
    readonly key: CompositeSessionKey;
    readonly session: ReturnType<typeof listedSession>;
  }[],
): [StateOwner, string][] {
  const shown = new Map<string, [StateOwner, string]>();
  for (const { key, session } of listed) {
    const byScope = splitByScope(session.state);
    for (const scope of SHARED_SCOPES) {
      const owner = ownerOf(scope, key);
      const name = nameOf(owner);
      if (Object.keys(byScope[scope]).length === 0 || shown.has(name)) continue;
      shown.set(name, [owner, JSON.stringify(byScope[scope])]);
    }
  }
  return [...shown.values()];
}
