import type { OutboxEntry } from '../../../service/cache/index.js';

/**
 * What waits for the remote of a `CachedSessionService` in one session or shared state, or one change that it refused, with
 * what waits for that: events, a creation, a title, a state, a deletion. `key` and `id` together name the entry.
 */
export interface UnsentEntry extends OutboxEntry {
  /** Sends again what was refused. Resolves once it is queued, as `retry` of the outbox. */
  readonly retry: () => Promise<void>;
  /**
   * Gives up the refused event, and sends what has waited for it. If something else was refused, or nothing, it gives up
   * everything of the entry. See `drop` of the outbox.
   */
  readonly discard: () => Promise<void>;
}
