import type { SessionError } from '../errors/errors.js';
import type { SessionStore } from '../storage/session_store.js';
import type { CompositeSessionKey } from '../model/session.js';
import type { StorageInfo } from '../model/session_service.js';
import type { StateSchema } from '../state/state_schema.js';
import { STALE_POLICIES } from '../wasm/protocol.js';
import { invalid, shown } from '../call/call.js';
import type { HistoryOptions } from '../read/history.js';
import type { StateWriter } from '../append/state_writer.js';
import type { parseEvents } from '../read/stored_events.js';
import type { Feed } from '../watch/feed.js';

/**
 * What every service of ours takes.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService({ stale: 'reject', clock: () => 1_700_000_000_000 });
 * ```
 */
export interface SessionServiceOptions {
  /**
   * What an append does when others appended since its handle was read. `'merge'` (default): it lands,
   * and the handle first receives what it had missed. `'append'`: it lands, and the handle gets only
   * its own event. `'reject'`: `stale_session`, and nothing is changed.
   */
  stale?: keyof typeof STALE_POLICIES | undefined;
  /**
   * Caps what `getSession` and `getOrCreateSession` return of the events, where they are called without
   * `config.numRecentEvents` and `config.afterTimestamp`, as a framework's `Runner` does; default: all
   * of them. A turn then costs the same however long the conversation is, and the model sees no more.
   *
   * When an answer to a call from before the window is appended, the window is extended back to it on
   * the handle before the append resolves; if that reading fails, the append rejects although the event
   * is stored, and trying it again is safe.
   */
  history?: HistoryOptions | undefined;
  /** Checked before anything is written: keys and values of initial states and deltas. */
  stateSchema?: StateSchema | undefined;
  /** The time in milliseconds since 1970; default `Date.now`. */
  clock?: (() => number) | undefined;
  /** Fresh ids of sessions and events; default a UUID v4. */
  newId?: (() => string) | undefined;
  /**
   * What puts deltas on a handle's state. For a service that `overService` of `adk-session-wasm/adk`
   * asks for, which hands it in; default: what goes by the order of writes that `State` keeps.
   */
  stateWriter?: StateWriter | undefined;
}

/** What a service is made of beside its options. */
export interface ServiceParts {
  readonly storage: StorageInfo;
  /** Makes what the service works on; absent: memory, which the wasm holds. */
  readonly openStore?: () => SessionStore;
  /** The service begins to close, and waits for its calls. */
  readonly closing?: () => void;
  /** The service has closed. */
  readonly closeStorage?: () => void | Promise<void>;
  /** Reads what the storage keeps events in; absent: texts, or an adapter's rows. */
  readonly parseEvents?: typeof parseEvents;
  /** Adds to the refusal of an append what only the storage can tell of it. */
  readonly explain?: (error: SessionError, key: CompositeSessionKey) => SessionError;
  /** What it shares with the other services over that storage; absent: nobody has a part in it. */
  readonly feed?: Feed;
}

/** The number of what `stale` says. */
export function policyOf(stale: unknown): number {
  if (typeof stale === 'string' && Object.hasOwn(STALE_POLICIES, stale)) {
    return STALE_POLICIES[stale as keyof typeof STALE_POLICIES];
  }
  throw invalid('stale', `must be 'merge', 'append' or 'reject'; it is ${shown(stale)}`);
}
