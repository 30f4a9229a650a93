import type { Event } from '../event.js';
import { BATCH } from '../service/stored_events.js';
import { parsedEvents } from './parsed_event.js';
import type { EventDataColumns } from './rows.js';

/**
 * Parses the events of rows as they come, some rows at once. The texts of a long session would else all
 * be in memory beside its events, and collecting them takes as long as all else.
 */
export class EventParser {
  /** `undefined` as soon as a row could not be told by these columns. */
  #events: Event[] | undefined = [];
  #ids: string[] = [];
  #eventData: (string | null)[] = [];
  #size = 0;

  readonly take = ({ id, event_data: eventData }: EventDataColumns): void => {
    if (this.#events === undefined) return;
    this.#ids.push(id);
    this.#eventData.push(eventData);
    this.#size += eventData?.length ?? 0;
    if (this.#size >= BATCH) this.#parse();
  };

  /** The events of all rows that were taken, in that order; `undefined` if a row leaves it to others. */
  end(): Event[] | undefined {
    this.#parse();
    return this.#events;
  }

  #parse(): void {
    const parsed = parsedEvents(this.#ids, this.#eventData);
    if (parsed === undefined) this.#events = undefined;
    else for (const event of parsed) this.#events?.push(event);
    this.#ids = [];
    this.#eventData = [];
    this.#size = 0;
  }
}
