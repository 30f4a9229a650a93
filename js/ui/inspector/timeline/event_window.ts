import type { GivenService } from '../../../core/call/given_service.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { HistoryView } from '../../../values/model/values/read_options.js';
import { cursorAt } from '../../../core/storage/reads/cursors.js';

/** The events of a read, and the most events that are held. */
const PAGE = 200;
const MOST = 1000;

/** Where a jump leads: to an end of the session, or to an event. */
export type JumpTarget = 'oldest' | 'newest' | { readonly eventId: string };

/** The events that are held now. Snapshots are never changed. */
export interface WindowSnapshot {
  readonly status: 'loading' | 'ready' | 'failed';
  /** Why the last read failed. */
  readonly error: unknown;
  /** Neighbours in append order, at most 1,000. */
  readonly events: readonly Event[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
  /** Counts the jumps. A view scrolls to the target after each. */
  readonly jump: number;
  readonly target: JumpTarget;
  /** The number of the first event: it is less by one for each event that came before it since the jump. */
  readonly firstNumber: number;
  /** Whether `firstNumber` counts the events of the session from 1. */
  readonly isCounted: boolean;
  /** The number of all events of the session, if the storage counts them. */
  readonly eventCount: number | undefined;
}

const EMPTY: WindowSnapshot = {
  status: 'loading',
  error: undefined,
  events: [],
  hasOlder: false,
  hasNewer: false,
  jump: 0,
  target: 'newest',
  firstNumber: 1,
  isCounted: false,
  eventCount: undefined,
};

/** Events of a session around the place that is shown. Those far away from it are dropped. */
export class EventWindow {
  readonly #service: GivenService<SessionService>;
  readonly #key: CompositeSessionKey;
  readonly #view: HistoryView;
  readonly #listeners = new Set<(snapshot: WindowSnapshot) => void>();
  #snapshot = EMPTY;
  /** A cursor of any event of the session. */
  #cursor = '';
  /** The last event of the session, as far as it is known. */
  #newestId = '';
  #isExtending = false;

  constructor(
    service: GivenService<SessionService>,
    key: CompositeSessionKey,
    view: HistoryView = 'transcript',
  ) {
    this.#service = service;
    this.#key = key;
    this.#view = view;
  }

  readonly getSnapshot = (): WindowSnapshot => this.#snapshot;

  readonly subscribe = (listener: (snapshot: WindowSnapshot) => void): (() => void) => {
    this.#listeners.add(listener);
    listener(this.#snapshot);
    return () => void this.#listeners.delete(listener);
  };

  /** Shows another place. Never rejects. */
  async open(target: JumpTarget): Promise<void> {
    const jump = this.#snapshot.jump + 1;
    this.#set({ status: 'loading', jump });
    try {
      const read = await this.#readTarget(target);
      // A later jump has its own events.
      if (this.#snapshot.jump !== jump) return;
      this.#set({ ...read, status: 'ready', error: undefined, jump: jump + 1, target });
    } catch (error) {
      if (this.#snapshot.jump === jump) this.#set({ status: 'failed', error });
    }
  }

  /** Puts older events before the first, and drops the newest of too many. */
  loadOlder(): Promise<void> {
    return this.#extend('hasOlder', async (events) => {
      const page = await this.#list({ before: this.#cursorAt(events[0]) });
      const known = new Set(events.map(({ id }) => id));
      const older = page.events.filter(({ id }) => !known.has(id));
      const { firstNumber, hasNewer } = this.#snapshot;
      const all = [...older, ...this.#snapshot.events];
      return {
        events: all.slice(0, MOST),
        hasOlder: page.before !== undefined,
        hasNewer: hasNewer || all.length > MOST,
        firstNumber: firstNumber - older.length,
      };
    });
  }

  /** Puts newer events after the last, and drops the oldest of too many. */
  loadNewer(): Promise<void> {
    return this.#extend('hasNewer', async (events) => {
      const page = await this.#list({ after: this.#cursorAt(events.at(-1)) });
      return { ...this.#withNewer(page.events), hasNewer: page.events.length === PAGE };
    });
  }

  /**
   * Takes over what has changed in the last events of the session.
   *
   * @param recent the last events, in append order
   */
  follow(recent: readonly Event[]): void {
    const { events, hasNewer, status, eventCount } = this.#snapshot;
    if (status === 'failed') return void this.open('newest');
    if (status === 'loading') return;
    const newest = recent.at(-1);
    if (newest === undefined) {
      // The session was deleted and created again without events.
      if (events.length > 0) void this.open('newest');
      return;
    }
    const position = recent.findIndex(({ id }) => id === events.at(-1)?.id);
    if (position < 0 && !hasNewer) return void this.open('newest');
    const changed = new Map(recent.map((event) => [event.id, event]));
    const current = events.map((event) => changed.get(event.id) ?? event);
    const isSame = current.every((event, at) => event === events[at]);
    if (isSame && newest.id === this.#newestId) return;
    const seen = recent.findIndex(({ id }) => id === this.#newestId);
    const added = recent.length - 1 - seen;
    this.#newestId = newest.id;
    this.#set({
      events: current,
      eventCount: eventCount === undefined || seen < 0 ? undefined : eventCount + added,
    });
    if (!hasNewer) this.#set(this.#withNewer(recent.slice(position + 1)));
    else if (seen < 0) void this.#leaveDeleted();
  }

  /** Opens the newest events if the window has those of a session that was deleted and created again. */
  async #leaveDeleted(): Promise<void> {
    const { jump } = this.#snapshot;
    try {
      await this.#list({ after: this.#cursor, limit: 1 });
    } catch {
      // A cursor of a deleted session is refused. If there is another reason, `open` shows it.
      if (this.#snapshot.jump === jump) await this.open('newest');
    }
  }

  async #readTarget(target: JumpTarget): Promise<Partial<WindowSnapshot>> {
    const newest = await this.#list({ limit: target === 'newest' ? PAGE : 1 });
    const { eventCount } = newest;
    this.#cursor = newest.after ?? '';
    this.#newestId = newest.events.at(-1)?.id ?? '';
    if (target === 'newest' || newest.events.length === 0) {
      const { events } = newest;
      const isCounted = eventCount !== undefined;
      const firstNumber = isCounted ? eventCount - events.length + 1 : 1;
      const hasOlder = newest.before !== undefined;
      return { events, hasOlder, hasNewer: false, firstNumber, isCounted, eventCount };
    }
    if (target === 'oldest') {
      const events: Event[] = [];
      const service = await this.#service;
      const request = { ...this.#key, order: 'asc', limit: PAGE, view: this.#view } as const;
      for await (const event of service.events(request)) {
        if (events.push(event) === PAGE) break;
      }
      const hasNewer = events.length === PAGE;
      return { events, hasOlder: false, hasNewer, firstNumber: 1, isCounted: true, eventCount };
    }
    const limit = PAGE / 2;
    const newer = await this.#list({ after: this.#cursorAt({ id: target.eventId }), limit });
    const [next] = newer.events;
    // The page before the first newer event has the event itself.
    const before = next === undefined ? undefined : this.#cursorAt(next);
    const older = await this.#list({ before, limit });
    return {
      events: [...older.events, ...newer.events],
      hasOlder: older.before !== undefined,
      hasNewer: newer.events.length === limit,
      firstNumber: 1,
      isCounted: false,
      eventCount,
    };
  }

  /** Adds newer events and drops the oldest of too many. */
  #withNewer(given: readonly Event[]): Partial<WindowSnapshot> {
    const { events, firstNumber, hasOlder } = this.#snapshot;
    const known = new Set(events.map(({ id }) => id));
    const all = [...events, ...given.filter(({ id }) => !known.has(id))];
    const dropped = Math.max(0, all.length - MOST);
    return {
      events: all.slice(dropped),
      hasOlder: hasOlder || dropped > 0,
      firstNumber: firstNumber + dropped,
    };
  }

  async #extend(
    side: 'hasOlder' | 'hasNewer',
    read: (events: readonly Event[]) => Promise<Partial<WindowSnapshot>>,
  ): Promise<void> {
    const { events, status, jump } = this.#snapshot;
    if (!this.#snapshot[side] || status !== 'ready' || this.#isExtending) return;
    this.#isExtending = true;
    try {
      const changes = await read(events);
      if (this.#snapshot.jump === jump) this.#set({ ...changes, error: undefined });
    } catch (error) {
      if (this.#snapshot.jump === jump) this.#set({ error });
    } finally {
      this.#isExtending = false;
    }
  }

  #cursorAt(event: Pick<Event, 'id'> | undefined): string {
    return cursorAt(this.#key, this.#cursor, event?.id ?? '');
  }

  async #list(page: { before?: string | undefined; after?: string | undefined; limit?: number }) {
    const service = await this.#service;
    return service.listEvents({ ...this.#key, limit: PAGE, view: this.#view, ...page });
  }

  #set(changes: Partial<WindowSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...changes };
    for (const listener of this.#listeners) listener(this.#snapshot);
  }
}
