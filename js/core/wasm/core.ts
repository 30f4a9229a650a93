/**
 * The border to the wasm: calls, the numbers that cross, and loading.
 *
 * All calls go through this module, so a bundle that does not use it has no wasm. `protocol.ts` and `packed_marks.ts` say
 * what the numbers mean, `loader/` knows where the bytes are on each host, and `loading.ts` loads them once.
 */
import {
  DrivenWrite,
  artifact_message,
  ask_history,
  type DeleteObject,
  delete_database,
  describe_missing,
  has_room,
  merge_states,
  scan_template,
  WasmStorage,
} from '#glue';
import {
  isSessionError,
  SessionError,
  type MissingVariable,
  type SessionErrorCode,
  type StaleReason,
} from '../../values/errors/errors.js';
import { tooLongError } from '../../values/json/too_long.js';
import { isPromise } from '../../values/members/is_promise.js';
import type { SharedScope } from '../../values/state/scope.js';
import { loadWasm, requireWasm } from './loading.js';

/** The names of the numbers of packed lists; see `src/wasm/bindings/packed/numbers.rs`. */
export {
  AppendedNumber,
  AppendNumber,
  BranchNumber,
  CallNumber,
  ChangeNumber,
  CreatedNumber,
  CreationNumber,
  DecisionNumber,
  EventNumber,
  FoundNumber,
  HistoryNumber,
  ItemNumber,
  MarkNumber,
  PauseNumber,
  PlanNumber,
  ReadNumber,
  ResponseNumber,
  ViewNumber,
  WrittenNumber,
} from '#glue';
export { DrivenWrite };
export type { DeleteObject, WasmStorage };

/** The cause of the instance's death. Its data is lost, so no call may reach a service in it. */
let death: { cause: unknown } | undefined;
/**
 * An error that an export threw, until the check whether the instance died of it has run. Near the
 * end of the stack, that check itself may overflow.
 */
let suspicion: { thrown: unknown } | undefined;

/**
 * Calls an export of the wasm with checked arguments. `call` must not run code of callers or
 * storages: a stack overflow in that code would pass for the instance's death.
 */
export function callCore<T>(call: () => T): T {
  return callWasmStorage(false, call);
}

/**
 * Does the same as {@link callCore} for methods of a `WasmStorage`, which also answer with promises.
 *
 * @param holdsData whether the service holds data in the instance, which is lost if the instance dies
 */
export function callWasmStorage<T>(holdsData: boolean, call: () => T): T {
  requireWasm();
  if (holdsData) requireLive();
  try {
    const result = call();
    return isPromise(result) ? (result.catch(fail) as T) : result;
  } catch (thrown) {
    suspicion = { thrown };
    return fail(thrown);
  }
}

function fail(thrown: unknown): never {
  throw coreError(thrown);
}

/** Fails with `internal` if the instance has died. */
function requireLive(): void {
  if (suspicion !== undefined) coreError(suspicion.thrown);
  if (death !== undefined) throw died(death.cause);
}

/** In UTF-16 code units. Two texts of this length still fit into one string in every JavaScript engine. */
const LONGEST_TEXT = 2 ** 28 - 2 ** 13;
/** Shorter texts need no check: the core keeps more room than that in reserve (`src/core/room.rs`). */
const SHORT_TEXT = 2 ** 16;

/** Bytes that the core needs for each UTF-16 code unit of a state that it parses. */
const STATE_UNIT = 12;
/** Bytes that the core needs for each UTF-16 code unit of a text that it keeps unparsed. */
const TEXT_UNIT = 4;
/** Bytes that the core needs for each UTF-16 code unit of a template: `{a}` is a placeholder. */
const TEMPLATE_UNIT = 28;

/**
 * Checks that texts fit into the wasm. Its memory ends at 4 GB, and a failed allocation ends the
 * instance.
 *
 * @param state UTF-16 code units of states and deltas
 * @param text UTF-16 code units of other texts
 * @param unit bytes for each unit of `state`
 * @throws SessionError `quota_exceeded`
 */
export function requireRoom(state: number, text = 0, unit = STATE_UNIT): void {
  const units = Math.max(state, text);
  if (units <= SHORT_TEXT) return;
  requireWasm();
  if (units <= LONGEST_TEXT && has_room(state * unit + text * TEXT_UNIT)) return;
  throw tooLongError(units);
}

/** An error of Rust; `ThrownError` in `src/wasm/thrown.rs`. */
interface ThrownByRust {
  readonly code: SessionErrorCode;
  readonly message: string;
  readonly key?: string;
  readonly path?: string;
  readonly record?: string;
  readonly staleReason?: StaleReason;
  readonly expectedRevision?: number;
  readonly actualRevision?: number;
  /** Pairs of an id and a revision. */
  readonly actualEvents?: readonly (readonly [id: string, revision: number | undefined])[];
}

function isThrownByRust(thrown: unknown): thrown is ThrownByRust {
  return (
    typeof thrown === 'object' && thrown !== null && 'code' in thrown && !(thrown instanceof Error)
  );
}

/** Converts an error of Rust or of a storage to the error that users get. */
export function toSessionError(thrown: unknown): SessionError {
  if (isSessionError(thrown)) return thrown;
  if (isThrownByRust(thrown)) {
    const { code, message, actualEvents, ...fields } = thrown;
    const events = actualEvents?.map(([id, revision]) => [id, revision ?? null] as const);
    return new SessionError(code, message, {
      ...fields,
      actualEvents: events && Object.fromEntries(events),
    });
  }
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  const message = `A call into the core failed: ${reason}. This is a bug of adk-session-wasm; please report it.`;
  return new SessionError('internal', message, { cause: thrown });
}

/**
 * Like {@link toSessionError}, for errors of an export or of a promise of the core. Notes whether
 * the instance died.
 */
export function coreError(thrown: unknown): SessionError {
  const isFatal = isDeath(thrown);
  // The instance's memory may be half written.
  if (isFatal) death ??= { cause: thrown };
  suspicion = undefined;
  return isFatal ? died(thrown) : toSessionError(thrown);
}

/** Returns whether the wasm stopped midway, by a trap or by a stack overflow within it. */
function isDeath(thrown: unknown): boolean {
  if (thrown instanceof WebAssembly.RuntimeError) return true;
  if (!(thrown instanceof Error)) return false;
  // Firefox: an InternalError, "too much recursion".
  if (!/call stack|recursion/i.test(thrown.message)) return false;
  // A stack overflow in the glue is harmless. Without stack frames it counts as one within the
  // wasm.
  const { stack = '' } = thrown;
  return stack.includes('wasm-function') || !/\n\s*at |@/.test(stack);
}

function died(cause: unknown): SessionError {
  return new SessionError(
    'internal',
    'The WebAssembly instance stopped, and what services held in memory is lost with it. ' +
      'This is a bug of adk-session-wasm; please report it. Reload to continue.',
    { cause },
  );
}

/** Returns six numbers for each placeholder; see `src/wasm/bindings/templates.rs`. */
export function scanTemplate(text: string): Uint32Array {
  requireRoom(text.length, 0, TEMPLATE_UNIT);
  return callCore(() => scan_template(text));
}

/** The placeholders without a value, and the error message. */
interface MissingVariables {
  readonly message: string;
  readonly missing: readonly MissingVariable[];
}

/**
 * Returns the error message for placeholders (by position) without a value. `keys` are the keys
 * with a value.
 */
export function describeMissing(
  text: string,
  positions: Uint32Array,
  keys: string[],
): MissingVariables {
  return callCore(() => describe_missing(text, positions, keys) as MissingVariables);
}

/** Returns the error message for an artifact that could not be loaded. */
export function artifactMessage(text: string, position: number, failed: boolean): string {
  return callCore(() => artifact_message(text, position, failed));
}

/** Answers a question about a history, which `js/core/wasm/packed_marks.ts` packs and whose answer it unpacks. */
export function askHistory(history: Float64Array): Uint32Array {
  return callCore(() => ask_history(history));
}

/** Makes a session service in wasm over a memory of its own. */
export function createMemoryStorage(): WasmStorage {
  return callCore(() => WasmStorage.memory());
}

/**
 * Merges a state with those of its user and its app into one JSON object, and puts the prefixes
 * back.
 *
 * @param record the name of the first state in an error
 */
export function mergeStates(
  record: string,
  state: string,
  { user, app }: Record<SharedScope, string | undefined> = { user: undefined, app: undefined },
): string {
  requireRoom(state.length + (user?.length ?? 0) + (app?.length ?? 0));
  return callCore(() => merge_states(user, app, state, record));
}

/** The database of the browser, and how it is written. */
export interface IndexedDbAccess {
  readonly name: string;
  readonly isStrict: boolean;
  readonly timeoutMs: number;
}

/** Called for each new connection to a database. No call uses the connection before it resolves. */
export type OnOpen = () => Promise<void>;

/**
 * Makes a session service in wasm over a database of the browser, which is opened when it is
 * needed. Services with the same `onOpen` share a connection.
 */
export function createIndexedDbStorage(
  access: IndexedDbAccess,
  onOpen: OnOpen | undefined,
): WasmStorage {
  const { name, isStrict, timeoutMs } = access;
  return callCore(() => WasmStorage.indexed_db(name, isStrict, timeoutMs, onOpen));
}

/** Deletes a database of the browser. */
export async function deleteDatabase(name: string, timeoutMs: number): Promise<void> {
  await loadWasm();
  await callCore(() => delete_database(name, timeoutMs) as Promise<unknown>);
}
