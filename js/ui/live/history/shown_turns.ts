import type { TurnBranches } from '../../../core/history/index.js';
import type { Event } from '../../../values/model/event/event.js';
import type { Abortable, CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { ShownTurns } from '../types/shown_turn.js';
import { KnownBranches, loadTurns } from './turn_changes.js';

/** Inherits nothing: the id of an invocation may be `toString`. */
const NO_TURNS = Object.create(null) as ShownTurns;

/** Which of the shown turns have other versions. They are read once a page asks for them. */
export class TurnVersions {
  readonly #branches = new KnownBranches();
  readonly #onWanted: () => void;
  #isWanted = false;
  #isStale = true;
  #places: readonly TurnBranches[] = [];
  #turns = NO_TURNS;
  #member = this.#makeMember();

  /** @param onWanted called when a page asks for the first time */
  constructor(onWanted: () => void) {
    this.#onWanted = onWanted;
  }

  /** Whether a page needs them, and they may have changed. */
  get isStale(): boolean {
    return this.#isWanted && this.#isStale;
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
      this.#turns = (await loadTurns()).turnsIn(places);
      this.#places = places;
      // The getter is another function, so that the next snapshot counts as another one.
      this.#member = this.#makeMember();
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  /** Adds the member `turns` to a snapshot. */
  addTo<Snapshot extends object>(snapshot: Snapshot): Snapshot & { readonly turns: ShownTurns } {
    return Object.defineProperty(snapshot, 'turns', this.#member) as Snapshot & {
      readonly turns: ShownTurns;
    };
  }

  #makeMember(): PropertyDescriptor {
    const turns = this.#turns;
    const get = (): ShownTurns => {
      if (!this.#isWanted) {
        this.#isWanted = true;
        this.#onWanted();
      }
      return turns;
    };
    return { get, enumerable: true, configurable: true };
  }
}
