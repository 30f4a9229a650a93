/** Finds markers by their text; see `docs/history.md`. */
import { type RawBuilder, sql } from 'kysely';
import type { Engine } from '../engine/engine.js';

/**
 * Each marker has a text of one of these patterns: Python's names or ours, in an event that may also be stored as its own
 * JSON, which escapes quotes. Each append tests all patterns. So they are few, and most begin with a rare letter, since
 * SQLite compares further wherever the first letter occurs. That takes 1 µs less than five whole names.
 */
const MARKER_PATTERNS = [
  // rewind_before_invocation_id, rewindBeforeInvocationId
  '%rewind%efore%nvocation%',
  '%mpaction%',
  // is_compacted, isCompacted
  '%mpacted%',
];

/**
 * Returns the condition that an event may be a marker. Messages with such texts fulfil it too. It has literals
 * instead of parameters, because the index has the same condition.
 */
export function mayBeMarker({ json }: Pick<Engine, 'json'>): RawBuilder<boolean> {
  const text = json(sql.ref('event_data'));
  const conditions = MARKER_PATTERNS.map((pattern) => sql`${text} like ${sql.lit(pattern)}`);
  return sql`(${sql.join(conditions, sql` or `)})`;
}
