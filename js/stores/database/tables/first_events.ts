import { LOOK_BACK_MICROS } from '../../../values/python/micros.js';
import { putLast } from '../../../values/members/bounded_map.js';
import type { StorageKey } from '../../../core/storage/rows.js';
import type { StoredTime } from '../engine/engine.js';
import { sessionName } from '../../../values/model/values/session_name.js';

/** First events of invocations. */
export interface KeptEvents {
  /** The revision at which the session was created. */
  readonly created: number;
  /** When an event was last replaced: it may have got another invocation. */
  readonly replacedAt: StoredTime | null;
  /** The ids of the events by their invocations. */
  readonly ids: ReadonlyMap<string, string>;
}

/** The most sessions that are remembered. */
const MAX_SESSIONS = 1000;

/**
 * Remembers the first events of invocations that rewinds name, because an append does not change which event is the
 * first one.
 *
 * Only a program whose clock is behind inserts an event before others. So an event is remembered only once the
 * session was written {@link LOOK_BACK_MICROS} after it. An event of a clock that is further behind may be overlooked
 * until this program starts again.
 */
export class FirstEvents {
  readonly #kept = new Map<string, KeptEvents>();

  get(key: Required<StorageKey>): KeptEvents | undefined {
    return this.#kept.get(sessionName(key));
  }

  put(key: Required<StorageKey>, events: KeptEvents): void {
    putLast(this.#kept, sessionName(key), events, MAX_SESSIONS);
  }
}

/** Returns whether no event can come before an event any more. @param revision that of the session */
export function isSettled(seq: number, revision: number): boolean {
  return revision - seq >= LOOK_BACK_MICROS;
}
