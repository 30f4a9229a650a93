/** The history that a live session shows: its events, its branches and its turns. */
import type { TurnBranches } from '../../core/history/index.js';
import { isMarker } from '../../values/model/event/markers.js';
import type { Event } from '../../values/model/event/event.js';
import type { Session, Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { HistoryView } from '../../values/model/values/read_options.js';
import { EventList, eventsIn } from './snapshot/shown_events.js';
import { KnownBranches, loadTurns } from './turn_changes.js';
import type { ShownTurns } from './types.js';

/** The stored events that a live session shows: those of a view, from some place to the end. */
export class ShownHistory<S extends object> {
  readonly branches = new KnownBranches();
  readonly undone = new UndoneTurns();
  readonly turns: TurnVersions;
  readonly #view: HistoryView;
  #list = new EventList();
  #hasOlder = false;
  /** The handle that the window was read with: `loadOlder` continues its view. */
  #handle: Session<S> | undefined;

  /** @param areTurnsWanted whether to read the versions of turns */
  constructor(view: HistoryView, areTurnsWanted: boolean) {
    this.#view = view;
    this.turns = new TurnVersions(areTurnsWanted);
  }

  get list(): EventList {
    return this.#list;
  }

  get hasOlder(): boolean {
    return this.#hasOlder;
  }

  /**
   * Takes a window that was read.
   *
   * @param limit the most events; one more shows that there are older ones
   * @param areUndone whether events that are missing now count as undone by a rewind
   */
  setWindow(session: Session<S>, limit: number, areUndone: boolean): void {
    const { events } = session;
    const before = eventsIn(this.#list.pages);
    this.#hasOlder = events.length > limit;
    this.#handle = { ...session, events: [] };
    this.#list = this.#list.withEvents(events.slice(-limit));
    if (areUndone) this.undone.note(before, events, !this.#hasOlder);
    this.#forgetBranches();
  }

  clear(): void {
    this.#list = this.#list.withEvents([]);
    this.#hasOlder = false;
    this.#forgetBranches();
  }

  /** Puts a changed event in its place. Returns `false` if its place is unknown, or if it may change others. */
  put(event: Event, isAppended: boolean): boolean {
    if (this.changesOthers(event)) return false;
    const list = this.#list;
    const isKnown = list.get(event.id) !== undefined;
    // A cache may append an event again, after others. A clock may be behind, so that an event comes late.
    if (isKnown === isAppended && list.last?.id !== event.id) return false;
    if (isMarker(event)) this.#forgetBranches();
    else if (!isKnown) {
      this.branches.noteAppended(event, list.last);
      this.turns.noteAppended(event, list.last);
    }
    if (isKnown) list.replace(event);
    else list.append(event);
    return true;
  }

  /** Whether an event may change which others are shown. An answer brings a hidden call back to agents. */
  changesOthers(event: Event): boolean {
    return this.#view === 'model' || (this.#view === 'transcript' && isMarker(event));
  }

  /** Puts older events before the first. Returns whether there are still older ones. */
  async loadOlder(service: SessionService<S>, limit: number): Promise<boolean> {
    while (this.#hasOlder) {
      const list = this.#list;
      const { first } = list;
      if (this.#handle === undefined || first === undefined) return false;
      const events = [first];
      const older = service.loadOlder({ ...this.#handle, events }, limit);
      const hasOlder = await older.catch((error: unknown) => {
        if (this.#list === list) throw error;
      });
      // If the window was read again meanwhile, these events may not stand directly before its first one.
      if (this.#list !== list) continue;
      list.prepend(events);
      this.turns.forget();
      return (this.#hasOlder = hasOlder === true);
    }
    return false;
  }

  #forgetBranches(): void {
    this.branches.forget();
    this.turns.forget();
  }
}

/** Inherits nothing: the id of an invocation may be `toString`. */
const NO_TURNS = Object.create(null) as ShownTurns;

/** Which of the shown turns have other versions. */
class TurnVersions {
  readonly #branches = new KnownBranches();
  readonly #areWanted: boolean;
  #isStale = true;
  #places: readonly TurnBranches[] = [];
  #shown = NO_TURNS;

  /** @param areWanted whether they are read at all */
  constructor(areWanted: boolean) {
    this.#areWanted = areWanted;
  }

  /** The same object until they change. */
  get shown(): ShownTurns {
    return this.#shown;
  }

  /** Whether they are wanted, and may have changed. */
  get isStale(): boolean {
    return this.#areWanted && this.#isStale;
  }

  /** Notes that they may have changed. */
  forget(): void {
    this.#isStale = true;
    this.#branches.forget();
  }

  /** Notes an appended event. */
  noteAppended(event: Event, last: Event | undefined): void {
    if (this.#branches.noteAppended(event, last)) this.#isStale = true;
  }

  /**
   * Reads them.
   *
   * @param fromEventId the first event that is shown; absent if none is
   */
  async read(
    service: SessionService,
    key: CompositeSessionKey & Abortable,
    fromEventId: string | undefined,
  ): Promise<void> {
    this.#isStale = false;
    try {
      const isEmpty = fromEventId === undefined;
      const places = isEmpty ? [] : await this.#branches.read(service, { ...key, fromEventId });
      if (places === this.#places) return;
      this.#shown = (await loadTurns()).turnsIn(places);
      this.#places = places;
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }
}

/** The invocations that a rewind has undone since the store began to show them. */
class UndoneTurns {
  readonly #invocations = new Set<string>();

  has(invocationId: string): boolean {
    return this.#invocations.has(invocationId);
  }

  /**
   * Compares the events before and after a read of the window. Those before the first common one may only have left the
   * window, unless it has all events.
   */
  note(before: readonly Event[], after: readonly Event[], isWhole: boolean): void {
    if (before.length === 0 && this.#invocations.size === 0) return;
    const ids = new Set(after.map(({ id }) => id));
    const common = before.findIndex(({ id }) => ids.has(id));
    const start = isWhole ? 0 : common < 0 ? before.length : common;
    for (const { id, invocationId } of before.slice(start)) {
      if (!ids.has(id)) this.#invocations.add(invocationId);
    }
    for (const { invocationId } of after) this.#invocations.delete(invocationId);
  }
}
