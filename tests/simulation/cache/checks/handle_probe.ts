import type { Event, Session, StateShape } from '../../../../js/index.js';
import { eventOf } from '../../model/events.js';
import type { EventSpec } from '../../operation.js';
import type { Tab } from '../device.js';
import { idOf } from './ledger.js';

/** A session object of a tab, with what must stay the same object. */
export interface CacheHandle {
  readonly number: number;
  readonly tab: Tab;
  readonly name: string;
  readonly session: Session;
  readonly events: readonly Event[];
  readonly state: StateShape;
  /** Whether it was read with all events. */
  readonly isWhole: boolean;
}

/** Checks that handles work on, and get what they had missed. */
export class HandleProbe {
  readonly #wait: <T>(what: string, call: Promise<T>) => Promise<T>;
  readonly #probed: { readonly handle: CacheHandle; readonly spec: EventSpec }[] = [];

  /** @param wait lets requests and time pass until a call has settled */
  constructor(wait: <T>(what: string, call: Promise<T>) => Promise<T>) {
    this.#wait = wait;
  }

  async append(handle: CacheHandle, spec: EventSpec): Promise<void> {
    const { tab, session } = handle;
    await this.#wait('an append', tab.service.appendEvent({ session, event: eventOf(spec) }));
    this.#probed.push({ handle, spec });
  }

  /**
   * Appends the events again, which stores nothing. Then each handle has all events.
   *
   * @param isGivenUp whether an event was dropped; a handle still has it
   */
  async check(isGivenUp: (id: string) => boolean): Promise<void> {
    for (const { handle, spec } of this.#probed) {
      const { tab, session, name, number, isWhole } = handle;
      const { appName, userId, id: sessionId } = session;
      await this.#wait('an append', tab.service.appendEvent({ session, event: eventOf(spec) }));
      if (session.events !== handle.events || session.state !== handle.state) {
        throw new Error(`handle ${number} of ${name} has other objects`);
      }
      const stored = await this.#wait('a read', tab.service.getSession({ appName, userId, sessionId })); // prettier-ignore
      const idsIn = (events: readonly Event[] = []): string[] =>
        events.map(idOf).filter((id) => !isGivenUp(id));
      // An earlier version of a dropped event may be stored.
      const [ids, expected] = [idsIn(session.events), idsIn(stored?.events)];
      const isComplete = !isWhole || expected.every((id) => ids.includes(id));
      const isDoubled = new Set(ids).size !== ids.length;
      if (isComplete && !isDoubled && ids.every((id) => expected.includes(id))) continue;
      const [shown, all] = [ids, expected].map((list) => list.join());
      throw new Error(`handle ${number} of ${name} has the events ${shown}; stored are ${all}`);
    }
  }
}
