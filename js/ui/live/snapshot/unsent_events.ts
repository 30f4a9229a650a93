import type {
  CachedSessionService,
  OutboxEntry,
  OutboxError,
} from '../../../service/cache/index.js';
import { isEqualJson } from '../../../values/json/equal.js';
import type { Event } from '../../../values/model/event/event.js';
import { keepRefused, type RefusedChange, refusedIn } from './refused_changes.js';
import type { EventList } from './shown_events.js';

/** An event that is not stored (yet). With a `CachedSessionService`, also one that its remote does not have (yet). */
export interface UnsentEvent {
  /** Why the event was not stored, or why the remote refused it. Absent while it is on its way. */
  readonly error?: unknown;
  /**
   * Why the remote of a cache refused what the event waits for: another event, with its `eventId`, the creation of the
   * session, or the session itself. `retry` of this event sends that again; `discard` gives up this event alone.
   */
  readonly blockedBy?: OutboxError;
}

/** The members of a cache that tell which events its remote does not have. */
export type Caching = Pick<CachedSessionService, 'outbox' | 'status' | 'watchStatus'>;

/** Returns the service as a cache, if it is one. */
export function cachingOf(service: object): Caching | undefined {
  const given = service as Partial<Caching>;
  return given.outbox === undefined ? undefined : (given as Caching);
}

/**
 * Calls a function when a cache's changes that its remote does not have, or has refused, are others.
 *
 * @returns a function that ends this; `undefined` if the service is no cache
 */
export function onPending(service: object, run: () => void): (() => void) | undefined {
  let known: unknown;
  return cachingOf(service)?.watchStatus(({ pending }) => {
    if (pending === known) return;
    known = pending;
    run();
  });
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
  /** The refused changes of the session that are no events; the same array until they change. */
  refused: readonly RefusedChange[] = [];

  /** By event id; the same object until something changes. Inherits nothing: an id may be `toString`. */
  get states(): Readonly<Record<string, UnsentEvent>> {
    return this.#states;
  }

  /** The events that the store sends, in order. */
  get events(): Event[] {
    return [...this.#sends.values()].map(({ event }) => event);
  }

  /**
   * The ids of the events that a cache has set aside: refused ones, and those that wait for them. What is sent comes
   * before them.
   */
  get setAside(): string[] {
    return [...this.#waiting].flatMap(([id, { error, blockedBy }]) =>
      (error ?? blockedBy) === undefined ? [] : [id],
    );
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
    this.refused = [];
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
      // A message with another id was asked under this one: its page, invocation and time are the server's.
      const isAsked = stored !== undefined && stored.id !== send.event.id;
      if (isAsked || isEqualJson(stored, send.event)) this.endSend(send);
    }
  }

  /** Notes that a cache has stored an event. It may have given it up before its list was read. */
  noteKept(eventId: string): void {
    if (this.#waiting.has(eventId)) return;
    this.#waiting = new Map([...this.#waiting, [eventId, {}]]);
    this.#outbox = undefined;
  }

  /**
   * Sets what a cache lists of the session.
   *
   * @returns the events whose places may have changed: those that it had before and has no more, since they were sent
   *   or given up, and those that stand behind what is sent
   */
  setOutbox(entries: readonly OutboxEntry[]): ReadonlySet<string> {
    this.refused = keepRefused(this.refused, refusedIn(entries));
    const outbox = JSON.stringify(
      entries.map(({ events, error, blocked }) => [
        ...[events.map(({ id }) => id), blocked],
        ...[error?.code, error?.message, error?.eventId],
      ]),
    );
    // What was stored and sent since the last list has come before those that were set aside.
    if (outbox === this.#outbox) return new Set(this.setAside);
    this.#outbox = outbox;
    const before = [...this.#waiting.keys()];
    const waiting = new Map<string, UnsentEvent>();
    for (const { events, error, blocked } of entries) {
      for (const { id } of events) {
        const isBlocked = blocked?.includes(id) === true;
        const state = error && (isBlocked ? { blockedBy: error } : { error });
        // An event may also have a version that was not refused.
        if (state?.error !== undefined || !waiting.has(id)) waiting.set(id, state ?? {});
      }
    }
    this.#waiting = waiting;
    this.#update();
    return new Set([...before.filter((id) => !waiting.has(id)), ...this.setAside]);
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
