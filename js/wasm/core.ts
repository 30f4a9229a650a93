/**
 * The wasm: loaded when it is first needed, from where the entry says, and called through here only.
 *
 * Nothing is loaded by an import, and nobody has to call an init. A load that fails is not
 * remembered: the next call tries again.
 */
import {
  AdapterWrite,
  artifact_message,
  check_window,
  delete_database,
  describe_missing,
  has_room,
  initSync,
  merge_states,
  page_numbers,
  same_json,
  scan_template,
  SessionCore,
} from '#pkg';
import {
  isSessionError,
  SessionError,
  type MissingVariable,
  type SessionErrorCode,
} from '../errors/errors.js';
import { tooLong } from '../json/too_long.js';

export { AdapterWrite };
export type { SessionCore };

/** Where the wasm comes from. One of the two is enough. */
export interface WasmSource {
  /** For hosts that have the bytes at hand: synchronous calls then work at once. */
  readonly moduleNow?: () => WebAssembly.Module;
  /** For hosts that fetch them, or that are faster if they may answer later. */
  readonly module?: () => Promise<WebAssembly.Module>;
}

let source: WasmSource | undefined;
let isLoaded = false;
/** A function that our module exports, and no other. */
const MARK = 'sessioncore_memory';
let loading: Promise<void> | undefined;
/** What the instance died of. What it held is lost, so no call may reach a service in it. */
let death: { cause: unknown } | undefined;
/** What an export threw, until it is known whether the instance died of it: near the end of the stack the code that finds out may overflow as well. */
let suspicion: { thrown: unknown } | undefined;

/** Says where the wasm comes from. A source that was given explicitly wins over a default one. */
export function provideWasm(given: WasmSource): void {
  source = given;
  // A load belongs to its source: who calls now does not get the failure of the one before.
  loading = undefined;
}

/** {@link provideWasm} for an entry's default: it does not replace a source that is there. */
export function provideDefaultWasm(given: WasmSource): void {
  source ??= given;
}

/**
 * Loads the wasm if it is not there: with a promise where the source can, else at once.
 *
 * @param atOnce the other way round, for services in memory: what they are asked is done when the call
 *   returns, and asynchronous calls must not fall behind the synchronous ones after them
 * @throws SessionError `wasm_unavailable`; the promise rejects with the same
 */
export function loadWasm(atOnce = false): Promise<void> | undefined {
  if (isLoaded && (atOnce || loading === undefined)) return undefined;
  const moduleNow = source?.moduleNow;
  if (moduleNow !== undefined && (atOnce || source?.module === undefined)) {
    loadNow(moduleNow);
    return undefined;
  }
  // Also if a synchronous call has brought it meanwhile: nobody overtakes those who wait.
  loading ??= loadLater(source);
  return loading;
}

function loadNow(give: () => WebAssembly.Module): void {
  try {
    start(give());
  } catch (cause) {
    throw unavailable(cause);
  }
}

function loadLater(from: WasmSource | undefined): Promise<void> {
  const loaded = fetchModule(from);
  const forget = (): void => {
    if (loading === loaded) loading = undefined;
  };
  // Before anybody else waits for it, so that there is no moment at which a call finds the wasm there
  // while earlier ones are still to be told.
  loaded.then(forget, forget);
  return loaded;
}

async function fetchModule(from: WasmSource | undefined): Promise<void> {
  try {
    if (from?.module === undefined) throw new Error('no source of it was given');
    const module = await from.module();
    // What services hold in memory is in the instance that a synchronous call made meanwhile.
    if (!isLoaded) start(module);
  } catch (cause) {
    if (!isLoaded) throw unavailable(cause);
  }
}

function start(module: WebAssembly.Module): void {
  // The glue keeps its first instance, even if the module is not this package's wasm.
  const isOurs = WebAssembly.Module.exports(module).some(({ name }) => name === MARK);
  if (!isOurs) throw new Error('it is the module of something else');
  initSync({ module });
  isLoaded = true;
}

function unavailable(cause: unknown): SessionError {
  if (isSessionError(cause)) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const isPolicy =
    /unsafe-eval|Content Security Policy|blocked by CSP|disallowed by embedder/i.test(reason);
  const advice = isPolicy
    ? "allow it with 'wasm-unsafe-eval' in the page's script-src policy"
    : 'the next call tries again';
  return new SessionError(
    'wasm_unavailable',
    `The WebAssembly module could not be loaded: ${reason}; ${advice}.`,
    { cause },
  );
}

/** Makes sure that a synchronous call can be made. */
function requireWasm(): void {
  if (isLoaded) return;
  const wait = loadWasm(true);
  if (wait === undefined) return;
  // Whoever calls again later finds it loaded; this call alone is told.
  wait.catch(() => undefined);
  throw new SessionError(
    'not_loaded',
    'The WebAssembly module is not there yet: await any method of a service, or loadWasm(), first.',
  );
}

/**
 * Calls exports of the wasm, with arguments that were checked. Code of callers and adapters must not run
 * within: a stack that it overflows would pass for the instance's death.
 *
 * @param holdsData whether what is called holds data in the instance, which is lost if it dies
 */
export function callCore<T>(call: () => T, holdsData = false): T {
  requireWasm();
  if (holdsData) requireLive();
  try {
    return call();
  } catch (thrown) {
    suspicion = { thrown };
    throw coreError(thrown);
  }
}

/** Makes sure that the instance holds what it was given. */
function requireLive(): void {
  if (suspicion !== undefined) coreError(suspicion.thrown);
  if (death !== undefined) throw died(death.cause);
}

/** In UTF-16 code units. Two texts of this length still fit into one string in every engine. */
const LONGEST_TEXT = 2 ** 28 - 2 ** 13;
/** Shorter texts need no check: the core keeps more room than that (`src/bindings/room.rs`). */
const SHORT_TEXT = 2 ** 16;

/** How many bytes the core needs for a UTF-16 code unit of a state that it takes apart. */
const STATE_UNIT = 12;
/** The same for a text that it keeps as it is. */
const TEXT_UNIT = 4;

/**
 * Makes sure that texts can enter the wasm. Its memory ends at 4 GB, and an instance that cannot allocate
 * dies.
 *
 * @param state how many UTF-16 code units of states or deltas there are
 * @param text how many code units of other texts
 * @throws SessionError `quota_exceeded`
 */
export function requireRoom(state: number, text = 0): void {
  const units = Math.max(state, text);
  if (units <= SHORT_TEXT) return;
  requireWasm();
  if (units <= LONGEST_TEXT && has_room(state * STATE_UNIT + text * TEXT_UNIT)) return;
  throw tooLong(units);
}

interface ThrownByRust {
  code: SessionErrorCode;
  message: string;
  path?: string;
  record?: string;
  expectedRevision?: number;
  actualRevision?: number;
}

function isThrownByRust(thrown: unknown): thrown is ThrownByRust {
  return (
    typeof thrown === 'object' && thrown !== null && 'code' in thrown && !(thrown instanceof Error)
  );
}

/** What Rust or a storage threw, as the error that users get. */
export function toSessionError(thrown: unknown): SessionError {
  if (isSessionError(thrown)) return thrown;
  if (isThrownByRust(thrown)) {
    const { code, message, ...fields } = thrown;
    return new SessionError(code, message, fields);
  }
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  const message = `A call into the core failed: ${reason}. This is a bug of adk-session-wasm; please report it.`;
  return new SessionError('internal', message, { cause: thrown });
}

/** {@link toSessionError} for what an export threw, or a promise of the core rejected with. */
export function coreError(thrown: unknown): SessionError {
  const isFatal = isDeath(thrown);
  // The instance's memory may be half written.
  if (isFatal) death ??= { cause: thrown };
  suspicion = undefined;
  return isFatal ? died(thrown) : toSessionError(thrown);
}

/** Whether the wasm stopped midway: by a trap, or because the stack overflowed within it. */
function isDeath(thrown: unknown): boolean {
  if (thrown instanceof WebAssembly.RuntimeError) return true;
  if (!(thrown instanceof Error)) return false;
  // Firefox: an InternalError, "too much recursion".
  if (!/call stack|recursion/i.test(thrown.message)) return false;
  // In the glue it does no harm. Without frames nothing tells where it was.
  const { stack = '' } = thrown;
  return stack.includes('wasm-function') || !/\n\s*at |@/.test(stack);
}

function died(cause: unknown): SessionError {
  return new SessionError(
    'internal',
    'The WebAssembly instance stopped, and what services held in memory is lost with it. ' +
      'This is a bug of adk-session-wasm; please report it. Reload to go on.',
    { cause },
  );
}

/** Whether two JSON texts say the same. The services' own rule for events that are stored already. */
export function isSameJson(one: string, other: string): boolean {
  return callCore(() => same_json(one, other));
}

/** Six numbers a placeholder; see `src/bindings/templates.rs`. */
export function scanTemplate(text: string): Uint32Array {
  // A placeholder of three characters leaves six numbers.
  requireRoom(text.length);
  return callCore(() => scan_template(text));
}

/** What to say of placeholders (by position) that have no value; `keys` have one. */
export function describeMissing(
  text: string,
  positions: Uint32Array,
  keys: string[],
): { message: string; missing: MissingVariable[] } {
  const { message, missing } = callCore(
    () =>
      describe_missing(text, positions, keys) as { message: string; missing: MissingVariable[] },
  );
  // Rust's objects inherit nothing; users get ordinary ones.
  return { message, missing: missing.map((variable) => ({ ...variable })) };
}

/** What to say of an artifact that could not be loaded. */
export function artifactMessage(text: string, position: number, failed: boolean): string {
  return callCore(() => artifact_message(text, position, failed));
}

/** A session service in wasm, over memory of its own. */
export function createMemoryCore(): SessionCore {
  return callCore(() => SessionCore.memory());
}

/**
 * A state, and those of its user and its app, as one JSON object with the prefixes put back.
 *
 * @param record names the first state in an error
 */
export function mergeStates(record: string, state: string, user?: string, app?: string): string {
  requireRoom(state.length + (user?.length ?? 0) + (app?.length ?? 0));
  return callCore(() => merge_states(record, state, user, app));
}

/** @throws SessionError `invalid_argument` for numbers that mean no window of a session's events */
export function checkWindow(last: number | undefined, after: number | undefined): void {
  callCore(() => check_window(last, after));
}

/** What the numbers of a request for a page mean. */
export interface PageNumbers {
  readonly offset: number;
  readonly limit: number | undefined;
  /** From 1. */
  readonly page: number;
  /** Those of a page; without a limit, the total. */
  readonly items: number;
  readonly pages: number;
}

/** @throws SessionError `invalid_argument` for numbers that mean no page */
export function pageNumbers(
  limit: number | undefined,
  offset: number | undefined,
  page: number | undefined,
  total: number,
): PageNumbers {
  const numbers = callCore(() => page_numbers(limit, offset, page, total));
  const [from = 0, most = NaN, position = 1, items = 0, pages = 0] = numbers;
  return {
    offset: from,
    limit: Number.isNaN(most) ? undefined : most,
    page: position,
    items,
    pages,
  };
}

/** Which database of the browser, and how it is written to. */
export interface IndexedDbAccess {
  readonly name: string;
  readonly isStrict: boolean;
  readonly timeoutMs: number;
  readonly blockedTimeoutMs: number;
}

/**
 * Called with each new connection to a database, before anybody may use it; a promise is waited for.
 * `message` is what Chromium says of the loss of an earlier database of that name.
 */
export type OnOpen = (
  database: IDBDatabase,
  isNew: boolean,
  message: unknown,
) => Promise<void> | undefined;

/**
 * A session service in wasm, over a database of the browser, which is opened when it is needed. Those that
 * are given the same `onOpen` share a connection.
 */
export function createIndexedDbCore(access: IndexedDbAccess, onOpen?: OnOpen): SessionCore {
  const { name, isStrict, timeoutMs, blockedTimeoutMs } = access;
  return callCore(() =>
    SessionCore.indexed_db(name, isStrict, timeoutMs, blockedTimeoutMs, onOpen),
  );
}

/** Deletes a database of the browser. */
export async function deleteDatabase(name: string, blockedTimeoutMs: number): Promise<void> {
  try {
    await loadWasm();
    await callCore(() => delete_database(name, blockedTimeoutMs));
  } catch (error) {
    throw coreError(error);
  }
}
