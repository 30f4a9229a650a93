import type { HistoryView } from '../../values/model/values/read_options.js';
import type { Event } from '../../values/model/event/event.js';
import type { EventSnapshot } from '../../values/model/event/snapshot.js';
import type { CreateWrite, HandlePosition } from '../write.js';

/** The revisions and the time of the session that a handle is made from. */
export interface HandleHead {
  readonly created: number;
  readonly revision: number;
  readonly lastUpdateTime: number;
}

/** Which events of a session a handle is made with. */
export interface HandleWindow {
  /** Whether these are all events of the session. */
  readonly isWhole: boolean;
  /** The time in ms of `config.afterTimestamp`, if the session was read with it. */
  readonly afterTimestamp?: number | undefined;
  /** The view that the session was read with; default `'raw'`. */
  readonly view?: HistoryView;
}

/** Changes that a handle has although it lacks earlier ones, with their revisions. */
export interface LaterChanges {
  /** Revisions by event id. */
  readonly events: ReadonlyMap<string, number>;
  /** Revisions by key of the state. */
  readonly keys: ReadonlyMap<string, number>;
}

const UNKNOWN: HandleHead = { created: NaN, revision: 0, lastUpdateTime: NaN };
const WINDOW: HandleWindow = { isWhole: false };

/**
 * What a service knows of a handle that it gave out or has appended through. Each change has a name here, and happens
 * here alone.
 */
export class HandleFacts {
  /** The time in ms of `config.afterTimestamp`, if the handle was read with it: it was read without older events. */
  readonly afterTimestamp: number | undefined;
  /** The view that the handle was read with. No marker is put on a handle with another one than `'raw'`. */
  readonly view: HistoryView;
  #createdRevision: number;
  #revision: number;
  #knownUntil: number;
  #laterChanges: { events: Map<string, number>; keys: Map<string, number> } | undefined;
  #lastUpdateTime: number;
  #firstEventId: string | undefined;
  #isTitled = false;
  #isViewStale = false;
  #creation: CreateWrite | undefined;

  /** @param events of the handle; without any argument: of a handle that this service did not give out */
  constructor(
    { created, revision, lastUpdateTime } = UNKNOWN,
    { isWhole, afterTimestamp, view = 'raw' } = WINDOW,
    events: readonly Event[] = [],
  ) {
    this.#createdRevision = created;
    this.#revision = revision;
    this.#knownUntil = revision;
    this.#lastUpdateTime = lastUpdateTime;
    this.#firstEventId = isWhole ? firstIdOf(events) : undefined;
    this.afterTimestamp = afterTimestamp;
    this.view = view;
  }

  /** The revision at which the session was created; NaN while it is not known. */
  get createdRevision(): number {
    return this.#createdRevision;
  }

  /** The revision of the last change that the handle has. */
  get revision(): number {
    return this.#revision;
  }

  /** The session's time at `revision`; NaN while it is not known. */
  get lastUpdateTime(): number {
    return this.#lastUpdateTime;
  }

  /**
   * The handle has every change up to this revision, or was notified of it. Unused while `createdRevision` is NaN.
   */
  get knownUntil(): number {
    return this.#knownUntil;
  }

  /** Changes after `knownUntil` that the handle has: those of its own appends. */
  get laterChanges(): LaterChanges | undefined {
    return this.#laterChanges;
  }

  /**
   * The id of the handle's first event when it was read with all of its events; `''` if it had none. While the handle
   * still begins with that event, it lacks no older one. `undefined` for a handle read with a window.
   */
  get firstEventId(): string | undefined {
    return this.#firstEventId;
  }

  /** Whether an append through the handle gave the session a title, if it had none. */
  get isTitled(): boolean {
    return this.#isTitled;
  }

  /** Whether an event was appended since the handle was read, after which other events may belong to the view. */
  get isViewStale(): boolean {
    return this.#isViewStale;
  }

  /** The session that the first append through the handle creates, if there is none. Only a cache does so. */
  get creation(): CreateWrite | undefined {
    return this.#creation;
  }

  /** Where an append through the handle stands. */
  positionBehind(lastEventId: string | undefined): HandlePosition {
    // Nothing was read that could be stale.
    if (this.#creation !== undefined) return { kind: 'latest' };
    return Number.isNaN(this.#createdRevision)
      ? { kind: 'lastEvent', lastEventId }
      : { kind: 'revision', created: this.#createdRevision, revision: this.#revision };
  }

  /** The next append creates the session, if there is none. */
  noteCreation(creation: CreateWrite): void {
    this.#creation = creation;
  }

  /** An append was stored, so the session is there. */
  noteExists(): void {
    this.#creation = undefined;
  }

  /** An append has given the session its title. */
  noteTitle(): void {
    this.#isTitled = true;
  }

  /** A handle that this service did not give out counts as having everything up to a revision, also outside of its window. */
  startAt(revision: number): void {
    if (Number.isNaN(this.#createdRevision)) this.#knownUntil = revision;
  }

  /** The handle was given all that it lacked up to a revision. */
  noteCaughtUp(revision: number): void {
    this.#knownUntil = revision;
  }

  /** The handle was given an event and the values of its delta, which were written at a revision. */
  noteGiven({ id, delta }: EventSnapshot, revision: number): void {
    if (revision <= this.#knownUntil + 1) {
      this.#knownUntil = Math.max(this.#knownUntil, revision);
      return;
    }
    this.#laterChanges ??= { events: new Map(), keys: new Map() };
    const { events, keys } = this.#laterChanges;
    const note = (map: Map<string, number>, name: string): void => {
      map.set(name, Math.max(revision, map.get(name) ?? 0));
    };
    note(events, id);
    for (const key of Object.keys(delta)) note(keys, key);
  }

  /** An event was appended that changes which other events belong to the view. */
  outdateView(): void {
    this.#isViewStale = true;
  }

  /** The window of the handle was read again. */
  renewWindow(events: readonly Event[]): void {
    if (this.#firstEventId !== undefined) this.#firstEventId = firstIdOf(events);
    this.#isViewStale = false;
  }

  /** A handle that was read without any event got its first one. */
  noteFirstEvent(events: readonly Event[]): void {
    if (this.#firstEventId === '') this.#firstEventId = firstIdOf(events);
  }

  /** The handle has all changes of an append, and stands at its revision. */
  moveTo({ created, revision, lastUpdateTime }: HandleHead): void {
    this.#createdRevision = created;
    this.#revision = revision;
    this.#lastUpdateTime = lastUpdateTime;
  }
}

function firstIdOf(events: readonly Event[]): string {
  return events[0]?.id ?? '';
}
