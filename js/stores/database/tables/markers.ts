/** Finds markers, and the events that tell what waits, by their text; see `docs/history.md`. */
import { type RawBuilder, sql } from 'kysely';
import type { StorageKey } from '../../../core/storage/rows.js';
import { putLast } from '../../../values/bounded_map.js';
import { keyText } from '../../../values/model/values/ids.js';
import { LOOK_BACK_MICROS } from '../../../values/python/micros.js';
import type { Engine, StoredTime } from '../engine/engine.js';

/**
 * Each of these events has a text of one of these patterns: Python's names or ours, in an event that may also be stored
 * as its own JSON, which escapes quotes. Each append tests all patterns. So they are few, and most begin with a rare
 * letter, since SQLite compares further wherever the first letter occurs. That takes 1 µs less than five whole names.
 */
const PATTERNS = [
  // rewind_before_invocation_id, rewindBeforeInvocationId
  '%rewind%efore%nvocation%',
  '%mpaction%',
  // is_compacted, isCompacted
  '%mpacted%',
  // The questions of the framework, and the answers to them.
  '%adk_request_%',
  // The events that end the calls of a stopped run.
  '%INVOCATION_ABORTED%',
  // Python's form is always there for these.
  '%running_tool_ids":%["%',
  '%agent_state":%odes%',
  '%nd_of_agent":%rue%',
];

/** Responses of the user, which end the wait for them. An agent's are not found: runs have many of them. */
const RESPONSE = '%unction_response%';
const BY_USER = ['%author":"user"%', '%author": "user"%'];

/**
 * Returns the condition that an event may be a marker, or may tell what waits. Messages with such texts fulfil it too.
 * It has literals instead of parameters, because the index has the same condition.
 */
export function mayBeMarker({ queries: { json } }: Engine): RawBuilder<boolean> {
  const text = json(sql.ref('event_data'));
  const isLike = (pattern: string) => sql<boolean>`${text} like ${sql.lit(pattern)}`;
  const isOneOf = (patterns: readonly string[]) => sql.join(patterns.map(isLike), sql` or `);
  const isAnswer = sql`${isLike(RESPONSE)} and (${isOneOf(BY_USER)})`;
  return sql`(${isOneOf(PATTERNS)} or (${isAnswer}))`;
}

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
    return this.#kept.get(keyText(key));
  }

  put(key: Required<StorageKey>, events: KeptEvents): void {
    putLast(this.#kept, keyText(key), events, MAX_SESSIONS);
  }
}

/** Returns whether no event can come before an event any more. @param revision that of the session */
export function isSettled(seq: number, revision: number): boolean {
  return revision - seq >= LOOK_BACK_MICROS;
}
