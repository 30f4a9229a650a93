import type { OutboxEntry } from '../../../service/cache/index.js';

/**
 * What waits for the remote of a `CachedSessionService` in one session or shared state, or was refused by it: events, a
 * creation, a title, a state, a deletion.
 */
export interface UnsentEntry extends OutboxEntry {
  /** Sends again what was refused. Resolves once it is queued, as `retry` of the outbox. */
  readonly retry: () => Promise<void>;
  /**
   * Gives up the refused event. If something else was refused, or nothing, it gives up everything unsent of the entry. See
   * `drop` of the outbox.
   */
  readonly discard: () => Promise<void>;
}
