import { type AdapterWrite, callCore, toSessionError } from '../../wasm/core.js';
import { type MaybePromise, requireNotAborted } from '../../call/call.js';
import type { SessionError } from '../../errors/errors.js';
import type { StorageCall } from '../../model/diagnostic.js';
import type { EventSnapshot } from '../../model/event/snapshot.js';
import type { NewSession } from '../../wasm/appends.js';
import { MOST_CHANGED, NEVER, PLANNED } from '../../wasm/protocol.js';
import type { StorageAdapter } from '../adapter.js';
import { adapterError, type Mutable, requestOf } from './adapter_calls.js';
import { contractViolation } from '../checked_rows.js';
import { decide } from './decide.js';
import type { BuiltInWriteRequest } from '../built_in_adapter.js';
import type { Found, StorageKey } from '../rows.js';
import { scopesOf, storageKey } from '../scopes.js';

/** The verbs that write. */
type WriteVerb = 'create' | 'append';

/** The parts of a write beside the write itself. */
export interface WriteParts<Verb extends WriteVerb> extends StorageCall {
  /** Runs the first attempt; the adapter runs all later ones. */
  readonly writer: Pick<StorageAdapter, Verb>;
  readonly key: StorageKey;
  /** The time of the write in milliseconds. */
  readonly now: number;
  readonly events: readonly EventSnapshot[];
  /** Of a new session: its title and labels, and the time from `CreateRequest`. */
  readonly creation: Pick<NewSession, 'description' | 'lastUpdateTime'> | undefined;
  /** The title for a session that has none. */
  readonly firstTitle: string | undefined;
  /** The last event of a handle whose position is not known. */
  readonly lastEventId: string | undefined;
  /** See `BuiltInWriteRequest`. */
  readonly truncateAfter: number | undefined;
  /** See `BuiltInWriteRequest`. */
  readonly sharesState: boolean | undefined;
}

/**
 * Runs a write through an adapter, once more if its decision needs more rows. Returns without a promise if the
 * adapter does. The write is freed.
 *
 * @param end returns the result of the write and frees it
 * @throws SessionError the error of the decision, even if the adapter hides it; else `storage_failed`
 */
export function writeThrough<Verb extends WriteVerb, T>(
  verb: Verb,
  adapter: Pick<StorageAdapter, Verb>,
  write: AdapterWrite,
  parts: WriteParts<Verb>,
  end: () => T,
): MaybePromise<T> {
  const { writer, signal } = parts;
  const plan = write.plan();
  let state: 'running' | 'decided' | 'ended' = 'running';
  let refusal: SessionError | undefined;
  const checkedDecide = (found: Found) => {
    if (state === 'ended') throw contractViolation(verb, 'called decide after it had ended');
    state = 'decided';
    refusal = undefined;
    try {
      return decide(verb, write, plan[PLANNED.scopes]!, parts, found);
    } catch (thrown) {
      throw (refusal = toSessionError(thrown));
    }
  };
  const fail = (error: unknown): never => {
    state = 'ended';
    try {
      write.free();
    } catch {
      // JavaScript threw through one of its methods, so the wasm counts it as borrowed. It is not freed.
    }
    throw refusal ?? adapterError(verb, error);
  };
  const succeed = (): MaybePromise<T> => {
    // The adapter should have let the error through, but hid it.
    if (refusal !== undefined) return fail(refusal);
    if (state !== 'decided') return fail(contractViolation(verb, 'ended without calling decide'));
    state = 'ended';
    if (!write.again()) return callCore(end);
    return writeThrough(verb, adapter, write, { ...parts, writer: adapter }, end);
  };
  let result: void | PromiseLike<void>;
  let isLater: boolean;
  try {
    requireNotAborted(signal);
    result = writer[verb](writeRequest(verb, plan, parts), checkedDecide);
    // Any value with a `then` is awaited, as `await` would do.
    isLater = typeof result?.then === 'function';
  } catch (error) {
    return fail(error);
  }
  return isLater ? Promise.resolve(result).then(succeed, fail) : succeed();
}

/** @param plan the numbers of `AdapterWrite::plan` */
function writeRequest<Verb extends WriteVerb>(
  verb: Verb,
  plan: Float64Array,
  parts: WriteParts<Verb>,
): BuiltInWriteRequest {
  const { key, events, now, lastEventId, creation, truncateAfter, sharesState } = parts;
  const isLocating = plan[PLANNED.locates] === 1;
  const isCreate = verb === 'create';
  let lastUpdateTime = isCreate ? (creation?.lastUpdateTime ?? now) : 0;
  for (const { timestamp } of isLocating && !isCreate ? [] : events) {
    lastUpdateTime = Math.max(lastUpdateTime, Math.min(timestamp, now));
  }
  const eventIds = isLocating ? [] : events.map(({ id }) => id);
  if (isLocating && lastEventId !== undefined) eventIds.push(lastEventId);
  const since = plan[PLANNED.since]!;
  const scopes = scopesOf(plan[PLANNED.scopes]!);
  const request: Mutable<BuiltInWriteRequest> = requestOf(
    { key: storageKey(key), scopes, eventIds, since, lastUpdateTime },
    parts,
  );
  const isRead = eventIds.length === 0 && since < NEVER;
  if (sharesState === false) request.sharesState = false;
  if (truncateAfter !== undefined) request.truncateAfter = truncateAfter;
  else if (isRead) request.changedLimit = MOST_CHANGED;
  return request;
}
