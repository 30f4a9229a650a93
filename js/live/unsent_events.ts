import type { CachedSessionService, OutboxEntry } from '../cache/index.js';
import { SessionError } from '../errors/errors.js';
import { requestError } from '../call/call.js';
import { invalidValue } from '../errors/invalid.js';
import { requireObject } from '../errors/option_values.js';
import { memberOf, ownMembers } from '../members/own.js';
import { newEventId } from '../model/event/create_event.js';
import type { Event } from '../model/event/event.js';
import type { SentEvent, UnsentEvent } from './live_session.js';

/** What a cache offers of the events that its remote does not have. */
export type Caching = Pick<CachedSessionService, 'outbox' | 'watchStatus'>;

/** Returns the service as a cache, if it is one. */
export function cachingOf(service: object): Caching | undefined {
  const given = service as Partial<Caching>;
  return memberOf(given, 'outbox') === undefined ? undefined : (given as Caching);
}

/** An event that a store sends, or has failed to send. */
export interface Send {
  readonly event: Event;
  readonly state: UnsentEvent;
}

/** The events of a session that a store sends, and those that a cache has stored and its remote does not have. */
export class UnsentEvents {
  readonly #sends = new Map<string, Send>();
  #waiting: ReadonlyMap<string, UnsentEvent> = new Map();
  #outbox = '';
  #states: Readonly<Record<string, UnsentEvent>> = ownMembers({});

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

  /**
   * Sets what a cache lists of the session.
   *
   * @returns the first event that the list had before and has no more: it was sent, or given up
   */
  setOutbox({ events = [], error }: Partial<OutboxEntry> = {}): string | undefined {
    const ids = events.map(({ id }) => id);
    const outbox = JSON.stringify([ids, error]);
    if (outbox === this.#outbox) return undefined;
    this.#outbox = outbox;
    const before = [...this.#waiting.keys()];
    const failed = error && { error: new SessionError(error.code, error.message) };
    const stateOf = (id: string): UnsentEvent =>
      failed !== undefined && (error?.eventId ?? id) === id ? failed : {};
    this.#waiting = new Map(ids.map((id) => [id, stateOf(id)]));
    this.#update();
    return before.find((id) => !this.#waiting.has(id));
  }

  #update(): void {
    const sends = [...this.#sends].map(([id, { state }]) => [id, state] as const);
    this.#states = ownMembers(Object.fromEntries([...this.#waiting, ...sends]));
  }
}

/**
 * Returns the object that a proxy of Vue stands for, as Vue's `toRaw` does. To read an event through Vue's deep proxies
 * takes longer than to append it.
 */
function rawOf<T extends object & { readonly __v_raw?: T }>(given: T): T {
  // A stored event may have a member of this name.
  const raw = Object.hasOwn(given, '__v_raw') ? undefined : given.__v_raw;
  return raw === undefined ? given : rawOf(raw);
}

/** Copies an event as far as an append changes it, and fills in its missing members. */
export function copyEvent(proxied: SentEvent): Event {
  try {
    requireObject('event', proxied);
    const given = rawOf<SentEvent>(proxied);
    const { id = '', timestamp = Date.now(), invocationId = `e-${newEventId()}`, actions } = given;
    // The event is shown, and can be given up, by its id.
    if (typeof (id as unknown) !== 'string') throw invalidValue('event.id', 'must be a string', id);
    const event = { ...given, invocationId, timestamp, id: id === '' ? newEventId() : id } as Event;
    if (actions !== undefined) event.actions = { ...actions };
    return event;
  } catch (thrown) {
    throw requestError(thrown);
  }
}
