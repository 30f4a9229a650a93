/** Finds markers by their text; see `docs/history.md`. */
import { type RawBuilder, sql } from 'kysely';
import type { Engine } from '../engine/engine.js';

/**
 * Each marker has one of these texts: Python's names, or ours in an event that is also stored as its own JSON.
 * The quotes after a name are left out, because that JSON escapes them.
 */
const MARKER_TEXTS = [
  'rewind_before_invocation_id',
  'rewindBeforeInvocationId',
  '"compaction',
  'is_compacted',
  'isCompacted',
];

/**
 * Returns the condition that an event may be a marker. Messages with these texts fulfil it too. It has literals
 * instead of parameters, because the index has the same condition.
 */
export function mayBeMarker({ json }: Pick<Engine, 'json'>): RawBuilder<boolean> {
  const text = json(sql.ref('event_data'));
  const conditions = MARKER_TEXTS.map((part) => sql`${text} like ${sql.lit(`%${part}%`)}`);
  return sql`(${sql.join(conditions, sql` or `)})`;
}
