import type { TurnBranches } from '../../../core/history/index.js';
import type { Event } from '../../../values/model/event/event.js';
import type { Abortable, CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { ShownTurns } from '../types/shown_turn.js';
import { KnownBranches, loadTurns } from './turn_changes.js';

/** Inherits nothing: the id of an invocation may be `toString`. */
const NO_TURNS = Object.create(null) as ShownTurns;

/** Which of the shown turns have other versions. */
export class TurnVersions {
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
