import { isSessionError } from '../../values/errors/errors.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { parseEventText } from '../../core/storage/stored_events.js';
import { markRaw } from '../../values/members.js';
import { changesOf, type OutboxChange, type OutboxError, outboxErrorOf } from './outbox_changes.js';
import {
  eventsOf,
  isOf,
  isRefused,
  isWaiting,
  type Mutation,
  ownRefusalOf,
} from './outbox/mutation.js';
import { type Blockers, blockersOf } from './outbox/refusals.js';
import type { CopyFetcher, StateFetcher } from './copies/copy_fetcher.js';
import { type CacheKey, isSession, nameOf, takeCacheKey } from './records/cache_key.js';
import { tellEdit } from './data/carry_out.js';
import type { CacheTransaction } from './data/cache_transaction.js';
import { dropMutations, giveUpMessage, notWaiting, retryRefused } from './sending/outbox_edits.js';
import type { Sender } from './sending/sender.js';
import type { CacheContext } from './copies/context.js';

/**
 * Changes of one session or shared state that the remote does not have. Either a refused change, with the changes that
 * wait for it, or all changes that wait only for the remote.
 */
export interface OutboxEntry {
  /** The session or the shared state. */
  readonly key: CacheKey;
  /** Tells the entries of one key apart. 0: they wait for the remote alone. */
  readonly id: number;
  /** What the entry changes, in the order in which it was made. */
  readonly changes: readonly OutboxChange[];
  /** The unsent events, in order. */
  readonly events: readonly Event[];
  /** Why the remote refused the first change of the entry for good. Absent while it waits. */
  readonly error?: OutboxError;
  /**
   * The ids of the events that were not refused themselves, and wait for the refused change. Absent without `error`.
   */
  readonly blocked?: readonly string[];
}

/**
 * The changes that the remote has not confirmed. What it refuses for good is set aside with the reason, and blocks only
 * what depends on it: later versions of an event, and the rest of an agent's invocation. Everything of a session
 * depends on its creation, on a rewind, and on that the session is there.
 */
export interface CacheOutbox {
  /** Lists what waits and what was set aside; with a key only that of one session or state. */
  list(key?: CacheKey): Promise<OutboxEntry[]>;
  /**
   * Sends again what was set aside: that of an entry, of one session or state, or everything. Everything but a creation
   * then comes behind what waits, with what it blocks. An event that was refused because it replaces a newer version
   * then replaces that one. Resolves once it is queued.
   */
  retry(of?: CacheKey | OutboxEntry): Promise<void>;
  /**
   * Gives up an unsent event, or everything unsent of an entry, a session or a state. The copy then follows the remote.
   * A session that the remote does not have is deleted. Of a refused deletion only itself is given up: what waits for it
   * is sent.
   *
   * @throws SessionError `not_found` if the event does not wait
   */
  drop(of: CacheKey | OutboxEntry, eventId?: string): Promise<void>;
}

/** The local data that a call began with, and the work on them. */
interface OutboxData extends CacheContext {
  readonly fetch: CopyFetcher;
  readonly states: StateFetcher;
  readonly sender: Sender;
}

export interface OutboxParts {
  readonly clock: () => number;
  /** Runs a call of the program. */
  readonly call: <T>(work: (epoch: OutboxData) => Promise<T>) => Promise<T>;
}

/** The outbox of a cache, as its users see it. */
export class Outbox implements CacheOutbox {
  static {
    markRaw(this.prototype);
  }

  readonly #parts: OutboxParts;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  list(given?: CacheKey): Promise<OutboxEntry[]> {
    return this.#parts.call(async ({ data }) => {
      const key = given === undefined ? undefined : takeCacheKey(given);
      if (key !== undefined) return entriesOf(await data.mutations(key));
      const all = await data.read((transaction) => transaction.outbox.below({}));
      return [...all.values()].flatMap(entriesOf);
    });
  }

  retry(given?: CacheKey | OutboxEntry): Promise<void> {
    return this.#parts.call(async (epoch) => {
      const { pending } = epoch;
      const of = given === undefined ? undefined : takeEntry(given);
      await pending.scan();
      const names = of === undefined ? pending.names() : [nameOf(of.key)];
      for (const name of names) {
        const refused = pending.mutations(name).find(isRefused);
        if (refused === undefined) continue;
        const { key } = refused.write;
        const isChosen = ({ number }: Mutation): boolean =>
          of?.id === undefined || of.id === number;
        await this.#edit(epoch, key, (transaction, mutations) =>
          retryRefused(transaction, key, mutations, isChosen),
        );
      }
    });
  }

  drop(given: CacheKey | OutboxEntry, eventId?: string): Promise<void> {
    return this.#parts.call(async (epoch) => {
      const { fetch, states, report } = epoch;
      const { key, id } = takeEntry(given);
      const isChosen = (mutation: Mutation): boolean =>
        eventId === undefined || eventsOf(mutation).some((event) => event.id === eventId);
      if (isSession(key) && (await this.#dropDamaged(epoch, key))) {
        await fetch.refresh(key).catch(report);
        return;
      }
      await this.#edit(epoch, key, (transaction, mutations) => {
        const blockers = blockersOf(mutations);
        const isOfEntry = (each: Mutation) => id === undefined || entryOf(each, blockers) === id;
        const refused = mutations.find(({ number }) => number === id);
        // What waits for a refused deletion is of the session that is still there.
        const isAlone = isOf(refused, 'delete') && eventId === undefined;
        const isMeant = (each: Mutation): boolean =>
          isAlone ? each === refused : isOfEntry(each) && isChosen(each);
        const chosen = mutations.filter((mutation) => isWaiting(mutation) && isMeant(mutation));
        if (eventId !== undefined && chosen.length === 0) throw notWaiting(eventId);
        return dropMutations(transaction, key, chosen, eventId);
      });
      const fetched = isSession(key) ? fetch.refresh(key) : states.fetch(key);
      await fetched.catch(report);
    });
  }

  /**
   * Gives up a message for the remote's agent, at once. If it may have arrived, its run is cancelled there before
   * anything else of the session is sent.
   *
   * @returns whether the message was in the outbox
   */
  giveUp(key: CompositeSessionKey, messageId: string): Promise<boolean> {
    return this.#parts.call(async (epoch) => {
      let isFound = false;
      await this.#edit(epoch, key, async (transaction) => {
        isFound = await giveUpMessage(transaction, key, messageId, false);
      });
      return isFound;
    });
  }

  /** Gives up a session whose record is damaged. @returns whether it was */
  async #dropDamaged({ data }: OutboxData, key: CompositeSessionKey): Promise<boolean> {
    try {
      await data.read((transaction) => transaction.copies.get(key));
      return false;
    } catch (error) {
      if (!isSessionError(error, 'corrupt_record')) throw error;
      await data.write((transaction) => transaction.deleteDamaged(key));
      return true;
    }
  }

  /** Changes mutations, and sends what is left. */
  async #edit(
    { data, sender }: OutboxData,
    key: CacheKey,
    work: (transaction: CacheTransaction, mutations: readonly Mutation[]) => Promise<void>,
  ): Promise<void> {
    await data.write(async (transaction) => {
      await work(transaction, await transaction.outbox.of(key));
      if (isSession(key)) await tellEdit(transaction, key);
      else transaction.notify({ type: 'resync' });
    });
    sender.wake();
  }
}

/** Takes a session or state, or an entry of it. @throws SessionError `invalid_argument` */
function takeEntry(given: CacheKey | OutboxEntry) {
  const { key = given as CacheKey, id } = Object(given) as Partial<OutboxEntry>;
  return { key: takeCacheKey(key), id };
}

/**
 * Returns the number of the entry of a mutation: that of the refused mutation, its own or the one it waits for; else 0.
 */
function entryOf(mutation: Mutation, blockers: Blockers): number {
  const { number } = mutation;
  return isRefused(mutation) ? number : (blockers.get(number)?.number ?? 0);
}

/** Returns the entries of a session or state; none if nothing waits but cancellings. */
function entriesOf(mutations: readonly Mutation[]): OutboxEntry[] {
  const blockers = blockersOf(mutations);
  const groups = new Map<number, [Mutation, ...Mutation[]]>();
  for (const mutation of mutations) {
    if (!isWaiting(mutation)) continue;
    const id = entryOf(mutation, blockers);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [mutation]);
    else group.push(mutation);
  }
  // A message that was given up is gone, also while only the cancelling of its run waits.
  const listed = [...groups].filter(([, group]) => !group.every((each) => isOf(each, 'cancel')));
  return listed.map(([id, group]): OutboxEntry => {
    const [first, ...others] = group;
    const texts = new Map(group.flatMap(eventsOf).map(({ id, text }) => [id, text]));
    const events = [...texts.values()].flatMap((text) => parseEventText(text) ?? []);
    const changes = group.flatMap(changesOf);
    const { key } = first.write;
    const refusal = ownRefusalOf(first);
    if (refusal === undefined) return { key, id, changes, events };
    const error = outboxErrorOf(refusal);
    const refused = new Set(eventsOf(first).map((event) => event.id));
    const behind = others.flatMap(eventsOf).map((event) => event.id);
    const blocked = [...new Set(behind)].filter((id) => !refused.has(id));
    return { key, id, changes, events, error, blocked };
  });
}
