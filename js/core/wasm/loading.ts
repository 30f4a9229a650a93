/**
 * Loads the wasm when it is first needed. An import loads nothing, and no init call is needed. A failed load is not
 * cached: the next call tries again.
 */
import { initSync, setTextCoders } from '#glue';
import { source as defaultSource } from '#wasm-source';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { WasmSource } from './loader/source.js';
import { newTextDecoder, textEncoder } from './text_coders.js';

/** The name of an export that only our module has. */
const MARK = 'wasmstorage_memory';

let source: WasmSource | undefined = defaultSource;
let isLoaded = false;
let loading: Promise<void> | undefined;

/** Sets the source of the wasm, in place of the default one. */
export function provideWasm(given: WasmSource): void {
  source = given;
  // A load belongs to its source: later calls must not get the failure of an earlier source.
  loading = undefined;
}

/**
 * Loads the wasm if it is not loaded: with a promise if the source can, else synchronously.
 *
 * @param atOnce loads synchronously if the source can. For services in memory: their calls are done
 *   when they return, and asynchronous calls must not fall behind later synchronous ones.
 * @returns a promise if the load has to be awaited; else `undefined`
 * @throws SessionError `wasm_unavailable`; the promise rejects with the same
 */
export function loadWasm(atOnce = false): Promise<void> | undefined {
  if (isLoaded && (atOnce || loading === undefined)) return undefined;
  const moduleNow = source?.moduleNow;
  if (moduleNow !== undefined && (atOnce || source?.module === undefined)) {
    loadNow(moduleNow);
    return undefined;
  }
  // Even if a synchronous call has loaded the wasm meanwhile: new calls must not overtake those
  // that wait.
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
  // Registered before any call waits, so that `loading` is cleared right before the waiting calls
  // go on, in order. Until then no new call finds the wasm loaded and overtakes them.
  loaded.then(forget, forget);
  return loaded;
}

async function fetchModule(from: WasmSource | undefined): Promise<void> {
  try {
    if (from?.module === undefined) throw new Error('no source of it was given');
    const module = await from.module();
    // A synchronous call may have made an instance meanwhile, which holds the data of services in
    // memory.
    if (!isLoaded) start(module);
  } catch (cause) {
    if (!isLoaded) throw unavailable(cause);
  }
}

function start(module: WebAssembly.Module): void {
  // The glue keeps its first instance, even if the module is not this package's wasm.
  const isOurs = WebAssembly.Module.exports(module).some(({ name }) => name === MARK);
  if (!isOurs) throw new Error('it is the module of something else');
  setTextCoders(newTextDecoder, textEncoder());
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

/** Fails with `not_loaded` if the wasm has to be awaited. */
export function requireWasm(): void {
  if (isLoaded) return;
  const wait = loadWasm(true);
  if (wait === undefined) return;
  // The load continues, and later calls find the wasm loaded. Only this call fails.
  wait.catch(() => undefined);
  throw new SessionError(
    'not_loaded',
    'The WebAssembly module is not there yet: await any method of a service, or loadWasm(), first.',
  );
}
