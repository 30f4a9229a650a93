import { SessionError } from '../../values/errors/errors.js';
import { requireOneOf } from '../../values/errors/option_values.js';
import type { StalePolicy } from '../../core/wasm/protocol.js';
import type { StateWriter } from './state_writer.js';

/** How an append changes its handle. */
export interface AppendRules {
  readonly stale: StalePolicy;
  readonly writer: StateWriter;
}

const RULES = Symbol.for('adk-session-wasm.appendRules');

/** All copies of this package share the map: a bundler may put the service and its wrapper into two copies. */
const realm = globalThis as { [RULES]?: WeakMap<object, AppendRules> };

/**
 * Sets the rules of an append, in place of those of the service that stores the events.
 *
 * The rules belong to the events and not to the request. A user's own service may lie before the one
 * that stores, and pass on a request of its own.
 */
export function setAppendRules(events: readonly unknown[], rules: AppendRules): void {
  for (const event of events) {
    if (typeof event === 'object' && event !== null)
      (realm[RULES] ??= new WeakMap()).set(event, rules);
  }
}

/** Returns the rules that were set for an append of these events. */
export function appendRulesOf([first]: readonly object[]): AppendRules | undefined {
  return first && realm[RULES]?.get(first);
}

/** `createEvent` of every copy of `@google/adk` gives its events this member. */
const FRAMEWORK_EVENT = Symbol.for('google.adk.event');

/**
 * Refuses the framework's events if no wrapper of `./adk` has set rules for them: a `Runner`
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

/** @throws SessionError `invalid_argument` for anything but a policy */
export function requireStalePolicy(stale: unknown): StalePolicy {
  return requireOneOf('stale', stale, ['merge', 'append', 'reject']);
}
