/**
 * The border to the wasm: calls of the rules, and the numbers that cross.
 *
 * `all.ts` has the calls that only the build with all can answer, or that must find it at hand. A bundle without that
 * file has no wasm in it: its services load the rules. `protocol.ts` and `packed_marks.ts` say what the numbers mean,
 * `loader/` knows where the bytes are on each host, and `loading.ts` loads them once.
 */
import type { DeleteObject, DrivenWrite, WasmStorage } from '#glue';
import {
  isSessionError,
  SessionError,
  type SessionErrorCode,
  type StaleReason,
} from '../../values/errors/errors.js';
import { reasonOf } from '../../values/errors/describe.js';
import { tooLongError } from '../../values/json/unreadable.js';
import { isPromise } from '../../values/members.js';
import type { SharedScope } from '../../values/state/scope.js';
import { type Build, buildOf, requireRules } from './loading.js';
import type { Rules } from './loader/source.js';

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
} from '#numbers';
export type { DeleteObject, DrivenWrite, WasmStorage };

/**
 * Calls an export of the wasm with checked arguments. `call` must not run code of callers or
 * storages: a stack overflow in that code would pass for the instance's death.
 */
export function callCore<T>(call: (rules: Rules) => T): T {
  const build = requireRules();
  return callBuild(build, () => call(build.glue!));
}

/** Does the same as {@link callCore} for methods of a write. */
export function callWrite<T>(write: DrivenWrite, call: () => T): T {
  return callBuild(buildOf(write), call);
}

/** Calls an export of a build that is loaded. It may answer with a promise. */
export function callBuild<T>(build: Build, call: () => T): T {
  try {
    const result = call();
    return isPromise(result) ? (result.catch(failOf(build)) as T) : result;
  } catch (thrown) {
    build.suspicion = { thrown };
    throw coreError(thrown, build);
  }
}

function failOf(build: Build): (thrown: unknown) => never {
  return (thrown) => {
    throw coreError(thrown, build);
  };
}

/** Fails with `internal` if the instance has died. */
export function requireLive(build: Build): void {
  if (build.suspicion !== undefined) coreError(build.suspicion.thrown, build);
  if (build.death !== undefined) throw died(build.death.cause);
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
export const TEMPLATE_UNIT = 28;

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
  const { glue } = requireRules();
  if (units <= LONGEST_TEXT && glue!.has_room(state * unit + text * TEXT_UNIT)) return;
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
  const message = `A call into the core failed: ${reasonOf(thrown)}. This is a bug of adk-session-wasm; please report it.`;
  return new SessionError('internal', message, { cause: thrown });
}

/**
 * Like {@link toSessionError}, for errors of an export or of a promise of the core. Notes whether
 * the instance died.
 */
export function coreError(thrown: unknown, build: Build): SessionError {
  const isFatal = isDeath(thrown);
  // The instance's memory may be half written.
  if (isFatal) build.death ??= { cause: thrown };
  build.suspicion = undefined;
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

/** Answers a question about a history, which `js/core/wasm/packed_marks.ts` packs and whose answer it unpacks. */
export function askHistory(history: Float64Array): Uint32Array {
  return callCore((rules) => rules.ask_history(history));
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
  return callCore((rules) => rules.merge_states(user, app, state, record));
}
