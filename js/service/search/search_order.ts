import type { LookedSession } from '../../core/word_rows.js';

/** Orders candidates. */
export type Order = (one: LookedSession, other: LookedSession) => number;

/** Orders those first that were updated last. */
export const newestFirst: Order = (one, other) =>
  other.lastUpdateTime - one.lastUpdateTime || (one.sessionId < other.sessionId ? 1 : -1);
