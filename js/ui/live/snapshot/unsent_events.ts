import type { CachedSessionService, OutboxEntry } from '../../../service/cache/index.js';
import { isEqualJson } from '../../../values/json/equal.js';
import type { Event } from '../../../values/model/event/event.js';
import type { EventList } from './event_list.js';

/** An event that is not stored (yet). With a `CachedSessionService`, also one that its remote does not have (yet). */
export interface UnsentEvent {
  /** Why the event was not stored, or why the remote refused it. Absent while it is on its way. */
  readonly error?: unknown;
}

/** The members of a cache that tell which events its remote does not have. */
export type Caching = Pick<CachedSessionService, 'outbox' | 'status' | 'watchStatus'>;

/** Returns the service as a cache, if it is one. */
export function cachingOf(service: object): Caching | undefined {
  const given = service as Partial<Caching>;
  return given.outbox === undefined ? undefined : (given as Caching);
}

/** An event that a store sends, or has failed to send. */
export interface Send {
  readonly event: Event;
  readonly state: UnsentEvent;
  /** Present if an agent answers the event: whether it streams. */
  readonly streaming?: boolean | undefined;
}

/** The events of a session that a store sends, and those that a cache has stored and its remote does not have. */
export class UnsentEvents {
  readonly #sends = new Map<string, Send>();
  #waiting: ReadonlyMap<string, UnsentEvent> = new Map();
  /** What it listed last. */
  #outbox: string | undefined;
  #states = withoutPrototype([]);

  /** By event id; the same object until something changes. Inherits nothing: an id may be `toString`. */
  get states(): Readonly<Record<string, UnsentEvent>> {
    return this.#states;
  }

  /** The events that the store sends, in order. */
  get events(): Event[] {
    return [...this.#sends.values()].map(({ event }) => event);
  }

  sendOf(eventId: string): Send | undefined {
    return this.#sends.get(eventId);
  }

  setSend(eventId: string, send: Send | undefined): void {
    if (send === undefined) this.#sends.delete(eventId);
    else this.#sends.set(eventId, send);
    this.#update();
  }

  clear(): void {
    this.#sends.clear();
    this.#waiting = new Map();
    this.#outbox = undefined;
    this.#update();
  }

  /** Notes the outcome of a send, unless the event is sent again already. */
  endSend(send: Send, outcome?: Send): void {
    const { id } = send.event;
    if (this.#sends.get(id) === send) this.setSend(id, outcome);
  }

  /** Forgets the failed sends of events that are stored: only the answer of the service was lost. */
  forgetStored(list: EventList): void {
    for (const send of this.#sends.values()) {
      if (send.state.error === undefined) continue;
      const stored = list.get(send.event.id);
      if (isEqualJson(stored, send.event)) this.endSend(send);
    }
  }

  /** Notes that a cache has stored an event. It may have given it up before its list was read. */
  noteKept(eventId: string): void {
    this.#waiting = new Map([...this.#waiting, [eventId, {}]]);
    this.#outbox = undefined;
  }

  /**
   * Sets what a cache lists of the session.
   *
   * @returns the events that the list had before and has no more: they were sent, or given up
   */
  setOutbox({ events = [], error }: Partial<OutboxEntry> = {}): readonly string[] {
    const ids = events.map(({ id }) => id);
    const outbox = JSON.stringify([ids, error?.code, error?.message, error?.eventId]);
    if (outbox === this.#outbox) return [];
    this.#outbox = outbox;
    const before = [...this.#waiting.keys()];
    const failed = error && { error };
    const stateOf = (id: string): UnsentEvent =>
      failed !== undefined && (error?.eventId ?? id) === id ? failed : {};
    this.#waiting = new Map(ids.map((id) => [id, stateOf(id)]));
    this.#update();
    return before.filter((id) => !this.#waiting.has(id));
  }

  #update(): void {
    const sends = [...this.#sends].map(([id, { state }]) => [id, state] as const);
    this.#states = withoutPrototype([...this.#waiting, ...sends]);
  }
}

function withoutPrototype(
  entries: readonly (readonly [string, UnsentEvent])[],
): Readonly<Record<string, UnsentEvent>> {
  const record = Object.create(null) as Record<string, UnsentEvent>;
  return Object.assign(record, Object.fromEntries(entries));
}
