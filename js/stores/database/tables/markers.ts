/** Finds markers, and the events that tell what waits, by their text; see `docs/history.md`. */
import { type RawBuilder, sql } from 'kysely';
import type { Engine } from '../engine/engine.js';

/**
 * Each of these events has a text of one of these patterns: Python's names or ours, in an event that may also be stored as
 * its own JSON, which escapes quotes. Each append tests all patterns. So they are few, and most begin with a rare letter,
 * since SQLite compares further wherever the first letter occurs. That takes 1 µs less than five whole names.
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
 * Returns the condition that an event may be a marker, or may tell what waits. Messages with such texts fulfil it too. It
 * has literals instead of parameters, because the index has the same condition.
 */
export function mayBeMarker({ queries: { json } }: Engine): RawBuilder<boolean> {
  const text = json(sql.ref('event_data'));
  const isLike = (pattern: string) => sql<boolean>`${text} like ${sql.lit(pattern)}`;
  const isOneOf = (patterns: readonly string[]) => sql.join(patterns.map(isLike), sql` or `);
  const isAnswer = sql`${isLike(RESPONSE)} and (${isOneOf(BY_USER)})`;
  return sql`(${isOneOf(PATTERNS)} or (${isAnswer}))`;
}
