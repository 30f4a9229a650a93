import { type AdapterWrite, callCore, toSessionError } from '../../wasm/core.js';
import { type MaybePromise, requireNotAborted } from '../../call/call.js';
import type { SessionError } from '../../errors/errors.js';
import type { StorageCall } from '../../model/diagnostic.js';
import { MOST_CHANGED, NEVER, PLANNED } from '../../wasm/protocol.js';
import type { StorageAdapter } from '../adapter.js';
import { adapterError, type Mutable, requestOf } from './adapter_calls.js';
import { contractViolation } from '../checked_rows.js';
import { decide, type RowParts } from './decide.js';
import type { BuiltInWriteRequest } from '../built_in_adapter.js';
import type { Changes, Found } from '../rows.js';
import { scopesOf, storageKey } from '../scopes.js';

/** The verbs that write. */
type WriteVerb = 'create' | 'append';

/** The parts of a write beside the write itself. */
export interface WriteParts extends RowParts, StorageCall {
  /** The last event of a handle whose position is not known. */
  readonly lastEventId: string | undefined;
  /** See `BuiltInWriteRequest`. */
  readonly sharesState: boolean | undefined;
}

/** A write that is ready for a verb of an adapter. */
export interface PreparedWrite<T> {
  readonly request: BuiltInWriteRequest;
  readonly decide: (found: Found) => Changes | undefined;
  /**
   * Calls the verb with this write alone. Returns without a promise if the adapter does.
   *
   * @throws SessionError the error of the decision, even if the adapter hides it; else `storage_failed`
   */
  readonly run: () => MaybePromise<T>;
  /** Called after another verb was given the write. Runs the write once more if its decision needs more rows. */
  readonly succeed: () => MaybePromise<T>;
  /** Called if that verb failed. */
  readonly fail: (error: unknown) => never;
}

/**
 * Prepares a write for a verb of an adapter. The write is freed when it has ended.
 *
 * @param end returns the result of the write and frees it
 */
export function prepareWrite<Verb extends WriteVerb, T>(
  verb: Verb,
  adapter: Pick<StorageAdapter, Verb>,
  write: AdapterWrite,
  parts: WriteParts,
  end: () => T,
): PreparedWrite<T> {
  const plan = write.plan();
  const request = writeRequest(verb, plan, parts);
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
    if (!write.replan()) return callCore(end);
    return prepareWrite(verb, adapter, write, parts, end).run();
  };
  const run = (): MaybePromise<T> => {
    let result: void | PromiseLike<void>;
    let isLater: boolean;
    try {
      requireNotAborted(request.signal);
      result = adapter[verb](request, checkedDecide);
      // Any value with a `then` is awaited, as `await` would do.
      isLater = typeof result?.then === 'function';
    } catch (error) {
      return fail(error);
    }
    return isLater ? Promise.resolve(result).then(succeed, fail) : succeed();
  };
  return { request, decide: checkedDecide, run, succeed, fail };
}

/** @param plan the numbers of `AdapterWrite::plan` */
function writeRequest(verb: WriteVerb, plan: Float64Array, parts: WriteParts): BuiltInWriteRequest {
  const { key, events, lastEventId, creation, sharesState } = parts;
  const isLocating = plan[PLANNED.locates] === 1;
  const isCreate = verb === 'create';
  let lastUpdateTime = isCreate ? (creation?.lastUpdateTime ?? creation?.now ?? 0) : 0;
  for (const { timestamp } of isLocating && !isCreate ? [] : events) {
    lastUpdateTime = Math.max(lastUpdateTime, timestamp);
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
  if (isRead) request.changedLimit = MOST_CHANGED;
  return request;
}
