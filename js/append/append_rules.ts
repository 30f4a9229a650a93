import { SessionError } from '../errors/errors.js';
import { requireOneOf } from '../errors/option_values.js';
import type { StorageOperation } from '../model/diagnostic.js';
import type { HandlePosition } from '../wasm/appends.js';
import { type Appended, STALE_POLICIES } from '../wasm/protocol.js';
import type { StateWriter } from './state_writer.js';

/**
 * The policy of an append through a stale handle; see `SessionServiceOptions.stale`.
 */
export type StalePolicy = keyof typeof STALE_POLICIES;

/** How an append changes its handle. */
export interface AppendRules {
  /** One of `STALE_POLICIES`. */
  readonly policy: number;
  readonly writer: StateWriter;
  /** Present if the handle is held by a client in another process. */
  readonly remote?: RemoteHandle;
}

/** A handle that a client in another process holds. The session of the append only stands for it. */
interface RemoteHandle {
  readonly position: HandlePosition;
  /** The title that the client gives to a session without one. */
  readonly firstTitle: string | undefined;
  /** Which write of the client this is. */
  readonly operation: StorageOperation | undefined;
  /** Gets the result of the append, for the client to update its handle. */
  readonly receive: (appended: Appended) => void;
}

const RULES = Symbol.for('adk-session-wasm.appendRules');

/** All copies of this package share the map: a bundler may put the service and its view into two copies. */
const realm = globalThis as { [RULES]?: WeakMap<object, AppendRules> };

/**
 * Sets the rules of all later appends through a handle. They replace those of the service that
 * stores the event.
 *
 * The rules belong to the handle and not to the request. A user's own service may lie before the one
 * that stores, and pass on a request of its own.
 */
export function setAppendRules(session: unknown, rules: AppendRules): void {
  const state = (session as { state?: unknown } | null | undefined)?.state;
  if (typeof state === 'object' && state !== null)
    (realm[RULES] ??= new WeakMap()).set(state, rules);
}

/** Returns the rules that were set for the handle with this `state`. */
export function appendRulesOf(state: object): AppendRules | undefined {
  return realm[RULES]?.get(state);
}

/** `createEvent` of every copy of `@google/adk` gives its events this member. */
const FRAMEWORK_EVENT = Symbol.for('google.adk.event');

/**
 * Refuses the framework's events through a handle that no view of `./adk` has set rules for: a `Runner`
 * without `asAdkService` would run with other defaults, and without its order of parallel writes.
 *
 * @throws SessionError `unsupported`
 */
export function refuseFrameworkEvents(events: readonly object[]): void {
  if (!events.some(isFrameworkEvent)) return;
  throw new SessionError(
    'unsupported',
    "This service does not store events of '@google/adk'. Give the Runner asAdkService(service), " +
      "imported from 'adk-session-wasm/adk'.",
  );
}

/** Returns `false` for a value that is not an event or throws when it is read: the snapshot refuses that. */
function isFrameworkEvent(event: { [FRAMEWORK_EVENT]?: unknown } | null): boolean {
  try {
    return event?.[FRAMEWORK_EVENT] === true;
  } catch {
    return false;
  }
}

/** Returns the number of a `stale` policy. Fails with `invalid_argument` for any other value. */
export function policyOf(stale: unknown): number {
  return STALE_POLICIES[requireOneOf('stale', stale, ['merge', 'append', 'reject'])];
}
