import type { LocalKey, LocalTransaction } from '../local_store/local_store.js';
import { below, type EventRecord } from '../records/records.js';

const IDS = 'i';
const TICKS = 't';

/**
 * The events of a session's copy. Those are stored by position, and positions have no gaps. Further entries find the
 * position of an event by its id, and the positions of those that have changed since a tick.
 */
export class CopyEvents {
  readonly #local: LocalTransaction;
  readonly #session: LocalKey;

  constructor(local: LocalTransaction, session: LocalKey) {
    this.#local = local;
    this.#session = session;
  }

  async positionOf(id: string): Promise<number | undefined> {
    const key = [...this.#session, IDS, id];
    return (await this.#local.get('events', key)) as number | undefined;
  }

  async at(position: number): Promise<EventRecord> {
    return (await this.#local.get('events', [...this.#session, position])) as EventRecord;
  }

  async withId(id: string): Promise<EventRecord | undefined> {
    const position = await this.positionOf(id);
    return position === undefined ? undefined : this.at(position);
  }

  /** Lists the events from a position on, up to another one that is not included. */
  async between(from: number, to: number): Promise<readonly EventRecord[]> {
    const range = { from: [...this.#session, from], to: [...this.#session, to] };
    return (await this.#local.list('events', range)) as readonly EventRecord[];
  }

  async ids(): Promise<ReadonlySet<unknown>> {
    const keys = await this.#local.keys('events', below([...this.#session, IDS]));
    return new Set(keys.map((key) => key.at(-1)));
  }

  /** Lists the events that have changed after a local number. */
  async changedAfter(tick: number): Promise<EventRecord[]> {
    const from = [...this.#session, TICKS, tick + 1];
    const { to } = below([...this.#session, TICKS]);
    const positions = (await this.#local.list('events', { from, to })) as readonly number[];
    return Promise.all(positions.map((position) => this.at(position)));
  }

  /**
   * @param birth that of the session. No handle lacks an event that has changed at that time
   * @param earlier the event that has the position
   */
  async put(
    position: number,
    event: EventRecord,
    birth: number,
    earlier: EventRecord | undefined,
  ): Promise<void> {
    const { id, tick } = event;
    if (earlier !== undefined && earlier.tick > birth && earlier.tick !== tick) {
      await this.#local.delete('events', [...this.#session, TICKS, earlier.tick]);
    }
    await this.#local.put('events', [...this.#session, position], event);
    if (earlier === undefined) {
      await this.#local.put('events', [...this.#session, IDS, id], position);
    }
    if (tick > birth) await this.#local.put('events', [...this.#session, TICKS, tick], position);
  }

  async clear(): Promise<void> {
    const { from, to } = below(this.#session);
    await this.#local.delete('events', from, to);
  }
}
