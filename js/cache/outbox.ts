import { SessionError } from '../errors/errors.js';
import { invalid } from '../errors/invalid.js';
import { requireObject } from '../errors/option_values.js';
import { newEventId } from '../model/event/create_event.js';
import type { Event, NewEvent } from '../model/event/event.js';
import type { EventSnapshot } from '../model/event/snapshot.js';
import type { CompositeSessionKey } from '../model/session.js';
import { requireId } from '../model/values/ids.js';
import type { ListParts, Lists } from './copies/lists.js';
import {
  difference,
  sharedKeysOf,
  splitByCreation,
  stateAfterEdit,
  stateWrites,
} from './copies/writes.js';
import {
  type CacheKey,
  isSession,
  nameOf,
  takeCacheKey,
  takeSessionKey,
} from './records/cache_key.js';
import {
  type Creation,
  isUnsentState,
  type Operation,
  staleBase,
  UNSENT_NOTHING,
} from './records/session_record.js';
import type { CacheFailure } from './records/status.js';
import type { Sender } from './sending/sender.js';
import { markRaw } from '../members/raw.js';

/**
 * What waits for the remote in one session or shared state, or was set aside because the remote refused it.
 *
 * @example
 * ```ts
 * import type { OutboxEntry } from 'adk-session-wasm/cache';
 *
 * const line = ({ key, error, events }: OutboxEntry) =>
 *   `${key.sessionId}: ${events.length} events ${error ? `refused: ${error.message}` : 'wait'}`;
 * ```
 */
export interface OutboxEntry {
  /** The session or the shared state. */
  readonly key: CacheKey;
  /** The unsent events, in order. */
  readonly events: readonly Event[];
  /** Why the remote refused the entry for good. Absent while it waits. */
  readonly error?: CacheFailure & {
    /** The event that was refused. Absent if the session itself was. */
    readonly eventId?: string;
  };
}

/**
 * The changes that the remote has not confirmed. What it refuses for good is set aside with the reason, and blocks only
 * its own session.
 *
 * @example
 * ```ts
 * import type { CachedSessionService } from 'adk-session-wasm/cache';
 *
 * async function dropRefused({ outbox }: CachedSessionService): Promise<void> {
 *   for (const { key, error } of await outbox.list()) {
 *     if (error) await outbox.drop(key, error.eventId);
 *   }
 * }
 * ```
 */
export interface CacheOutbox {
  /** Lists what waits and what was set aside; with a key only that of one session or state. */
  list(key?: CacheKey): Promise<OutboxEntry[]>;
  /** Sends again what was set aside: of one session or state, or everything. Resolves once it is queued. */
  retry(key?: CacheKey): Promise<void>;
  /**
   * Gives up an unsent event, or everything unsent of a session or state. The copy then follows the remote. A session
   * that the remote does not have is deleted.
   *
   * @throws SessionError `not_found` if the event does not wait
   */
  drop(key: CacheKey, eventId?: string): Promise<void>;
  /**
   * Replaces an unsent event by one with the same id, and sends the session again.
   *
   * @throws SessionError `not_found` if the event does not wait; `invalid_argument`, `unserializable`
   */
  change(key: CompositeSessionKey, event: NewEvent & { id: string }): Promise<void>;
}

export interface OutboxParts extends ListParts {
  readonly lists: Lists;
  readonly sender: Sender;
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The outbox of a cache. It holds nothing: what is unsent stands in the copies and their records. */
export class Outbox implements CacheOutbox {
  static {
    markRaw(this.prototype);
  }

  readonly #parts: OutboxParts;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  list(given?: CacheKey): Promise<OutboxEntry[]> {
    const { unsent, run } = this.#parts;
    return run(async () => {
      const name = given === undefined ? undefined : nameOf(takeCacheKey(given));
      if (name === undefined) await unsent.scan();
      const keys = unsent.keys().filter((key) => name === undefined || nameOf(key) === name);
      const entries = await Promise.all(keys.map((key) => this.#entry(key)));
      return entries.filter((entry) => entry !== undefined);
    });
  }

  /** Returns `undefined` if nothing waits any more: another tab may just have sent it. */
  async #entry(key: CacheKey): Promise<OutboxEntry | undefined> {
    const changes = await this.#parts.unsent.read(key);
    if (changes === undefined) return undefined;
    const { events, refusal } = changes;
    const texts = new Map(events.map(({ id, text }) => [id, text]));
    const parsed = [...texts.values()].map((text) => JSON.parse(text) as Event);
    return { key, events: parsed, ...(refusal && { error: refusal }) };
  }

  retry(given?: CacheKey): Promise<void> {
    const { unsent, run } = this.#parts;
    return run(async () => {
      if (given === undefined) await unsent.scan();
      const keys = given === undefined ? unsent.keys() : [takeCacheKey(given)];
      for (const key of keys) await this.#release(key);
    });
  }

  drop(given: CacheKey, eventId?: string): Promise<void> {
    const { records, fetch, lists, report, run } = this.#parts;
    return run(async () => {
      const key = takeCacheKey(given);
      if (isSession(key)) {
        await fetch.turns.run(nameOf(key), () => this.#edit(key, eventId));
        await this.#release(key);
        await fetch.copy(key).catch(report);
        return;
      }
      await records.change(key, (all) => {
        const names = Object.keys(all).filter(isUnsentState);
        return Object.fromEntries(names.map((name) => [name, undefined]));
      });
      await this.#release(key);
      await lists.fetchState(key).catch(report);
    });
  }

  change(given: CompositeSessionKey, event: NewEvent & { id: string }): Promise<void> {
    const { local, fetch, run } = this.#parts;
    return run(async () => {
      const key = takeSessionKey(given);
      requireObject('event', event);
      const changed = { ...event } as Event;
      requireId('event.id', changed.id);
      if (changed.partial) throw invalid('event', 'must not be partial: it is not stored');
      const snapshot = local.snapshot(changed);
      await fetch.turns.run(nameOf(key), () => this.#edit(key, snapshot.id, [snapshot]));
      await this.#release(key);
    });
  }

  /** Sends again what was set aside of a session or state. */
  async #release(key: CacheKey): Promise<void> {
    const { sender, unsent } = this.#parts;
    await unsent.release(key);
    sender.wake();
  }

  /**
   * Replaces or drops an unsent event, or everything unsent.
   *
   * @param eventId `undefined`: everything unsent
   * @param substitutes the events that take its place; without any, it is dropped
   */
  async #edit(
    key: CompositeSessionKey,
    eventId: string | undefined,
    substitutes: readonly EventSnapshot[] = [],
  ): Promise<void> {
    const { records, local } = this.#parts;
    const { copy, record, damage } = await local.unsent(key);
    const { base, create } = record;
    const isChosen = ({ id }: EventSnapshot): boolean => id === (eventId ?? id);
    if (eventId !== undefined && !copy?.events.some(isChosen)) {
      const message = `Event ${JSON.stringify(eventId)} does not wait for the remote.`;
      throw new SessionError('not_found', message, { key: 'eventId' });
    }
    // A damaged copy is given up as a whole.
    if (damage !== undefined) await local.deleteDamaged(key);
    if (copy === undefined || (base === undefined && eventId === undefined)) {
      if (copy !== undefined) await local.deleteCreatedAt(key, copy.created);
      return records.changeSession(key, () => UNSENT_NOTHING);
    }
    const events = copy.events.flatMap((event) => (isChosen(event) ? substitutes : [event]));
    const creation = create && (await this.#recordDrop(key, create, copy.events, events));
    // Without a base, the remote does not have the session, so all writes together give the state. With a base, the
    // values that only the old events wrote stay until the whole copy is fetched: its base becomes stale.
    const target = stateAfterEdit(
      copy.state,
      base === undefined ? {} : copy.state,
      stateWrites(events, creation),
      sharedKeysOf(substitutes),
    );
    const replacement = {
      truncateAfter: base?.local ?? copy.created,
      expectedRevision: copy.revision,
      events,
      delta: JSON.stringify(difference(copy.state, target)),
    };
    const bases = base && { present: base, next: staleBase(base) };
    const replaced =
      bases === undefined
        ? await local.replace(key, replacement)
        : await local.replaceWithBase(key, replacement, bases, events.length);
    if (replaced === undefined) return this.#edit(key, eventId, substitutes);
    if (base === undefined) await this.#recordChange(key);
    if (eventId === undefined) await records.changeSession(key, () => UNSENT_NOTHING);
  }

  /**
   * Records that a session whose creation waited has changed. Another tab may be sending the session without the change, or
   * may have sent it. It then sees the new id, or the stale base, and the whole copy is fetched.
   */
  async #recordChange(key: CompositeSessionKey): Promise<void> {
    await this.#parts.records.changeSession(key, ({ base, create }) => ({
      base: base && staleBase(base),
      create: create && { ...create, id: newEventId() },
    }));
  }

  /**
   * Records which events will be dropped of those that the session was created with. Otherwise the creation would send
   * later events as its own.
   *
   * @returns the creation with these events recorded as dropped
   */
  async #recordDrop(
    key: CompositeSessionKey,
    create: Operation<Creation>,
    before: readonly EventSnapshot[],
    after: readonly EventSnapshot[],
  ): Promise<Creation> {
    const ids = new Set(after.map(({ id }) => id));
    const { first } = splitByCreation(before, create.value);
    const droppedIds = first.map(({ id }) => id).filter((id) => !ids.has(id));
    if (droppedIds.length === 0) return create.value;
    const withDropped = ({ dropped = [], ...creation }: Creation): Creation => {
      return { ...creation, dropped: [...new Set([...dropped, ...droppedIds])] };
    };
    await this.#parts.records.changeSession(key, ({ create: present }) =>
      present?.id === create.id
        ? { create: { ...present, value: withDropped(present.value) } }
        : {},
    );
    return withDropped(create.value);
  }
}
