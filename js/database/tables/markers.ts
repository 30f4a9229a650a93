/** Finds markers by their text; see `docs/history.md`. */
import { type RawBuilder, sql } from 'kysely';
import type { Engine } from '../engine/engine.js';

/**
 * Texts of which each marker has one: Python's names, and ours in an event that is also stored as its own JSON.
 * A text is followed by quotes that this JSON escapes.
 */
const MARKER_TEXTS = [
  'rewind_before_invocation_id',
  'rewindBeforeInvocationId',
  '"compaction',
  'is_compacted',
  'isCompacted',
];

/**
 * The condition that an event may be a marker. Messages with these texts pass it too. An index has the same
 * condition, so it holds no values.
 */
export function mayBeMarker({ json }: Pick<Engine, 'json'>): RawBuilder<boolean> {
  const text = json(sql.ref('event_data'));
  const conditions = MARKER_TEXTS.map((part) => sql`${text} like ${sql.lit(`%${part}%`)}`);
  return sql`(${sql.join(conditions, sql` or `)})`;
}
