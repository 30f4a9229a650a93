import { type DrivenWrite, callWrite, toSessionError } from '../../wasm/core.js';
import { type Call, requireNotAborted } from '../../call/call.js';
import type { SessionError } from '../../../values/errors/errors.js';
import { type WritePlan, unpackPlan } from '../wasm/packed.js';
import { contractViolation } from '../checked_rows.js';
import { decide, type RowParts } from './decide.js';
import type { WriteIdentity } from '../../../values/model/diagnostic.js';
import type { StorageWriteRequest } from '../requests.js';
import type { Changes, Found } from '../rows.js';
import { storageKey } from '../scopes.js';
import type { Storage } from '../storage.js';
import { requestOf, storageError } from './storage_calls.js';

/** The verbs that write. */
type DriverVerb = 'create' | 'append';

/** The parts of a write beside the write itself. */
export interface WriteParts extends RowParts, WriteIdentity {
  readonly call: Call;
  /** The last event of a handle whose position is not known. */
  readonly lastEventId: string | undefined;
}

/** A write that is ready for a verb of a storage. */
export interface PreparedWrite<T> {
  readonly request: StorageWriteRequest;
  readonly decide: (found: Found) => Changes | undefined;
  /**
   * Calls the verb with this write alone.
   *
   * @throws SessionError the error of the decision, even if the storage hides it; else `storage_failed`
   */
  readonly run: () => Promise<T>;
  /** Called after another verb was given the write. Runs the write once more if its decision needs more rows. */
  readonly succeed: () => T | Promise<T>;
  /** Called if that verb failed. */
  readonly fail: (error: unknown) => never;
}

/**
 * Prepares a write for a verb of a storage. The write is freed when it has ended.
 *
 * @param end returns the result of the write and frees it
 */
export function prepareWrite<Verb extends DriverVerb, T>(
  verb: Verb,
  storage: Pick<Storage, Verb>,
  write: DrivenWrite,
  parts: WriteParts,
  end: () => T,
): PreparedWrite<T> {
  const plan = unpackPlan(write.plan());
  const request = writeRequest(verb, plan, parts);
  let state: 'running' | 'decided' | 'ended' = 'running';
  let refusal: SessionError | undefined;
  const checkedDecide = (found: Found) => {
    if (state === 'ended') throw contractViolation(verb, 'called decide after it had ended');
    state = 'decided';
    refusal = undefined;
    try {
      return decide(write, plan.scopes, parts, found);
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
    throw refusal ?? storageError(verb, error);
  };
  const succeed = (): T | Promise<T> => {
    // The storage should have let the error through, but hid it.
    if (refusal !== undefined) return fail(refusal);
    if (state !== 'decided') return fail(contractViolation(verb, 'ended without calling decide'));
    state = 'ended';
    if (!write.replan()) return callWrite(write, end);
    return prepareWrite(verb, storage, write, parts, end).run();
  };
  const run = async (): Promise<T> => {
    try {
      requireNotAborted(request.signal);
      const stored = storage[verb](request, checkedDecide);
      // Runners of parallel agents see each tick of an append. A storage that answers at once takes none.
      if (typeof stored?.then === 'function') await stored;
    } catch (error) {
      return fail(error);
    }
    return succeed();
  };
  return { request, decide: checkedDecide, run, succeed, fail };
}

function writeRequest(verb: DriverVerb, plan: WritePlan, parts: WriteParts): StorageWriteRequest {
  const { scopes, isLocating, since } = plan;
  const { key, events, lastEventId, creation, call, operation } = parts;
  const isCreate = verb === 'create';
  let lastUpdateTime = isCreate ? (creation?.lastUpdateTime ?? creation?.now ?? 0) : 0;
  for (const { timestamp } of isLocating && !isCreate ? [] : events) {
    lastUpdateTime = Math.max(lastUpdateTime, timestamp);
  }
  const eventIds = isLocating ? [] : events.map(({ id }) => id);
  if (isLocating && lastEventId !== undefined) eventIds.push(lastEventId);
  const given = { key: storageKey(key), scopes, eventIds, since, lastUpdateTime };
  return requestOf(given, call, operation);
}
