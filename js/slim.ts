/**
 * The package in one file, without the wasm: give the location of that (`adk-session-wasm/wasm`) to {@link loadWasm}.
 * For pages that fetch and cache the wasm instead of carrying it in their JavaScript, and for pages without a bundler.
 *
 * @module adk-session-wasm/slim
 */
import { provideWasm } from './core/wasm/all.js';
import { loadWasm as load } from './core/wasm/loading.js';
import { TimeLimit } from './core/call/time_limit.js';
import { SessionError } from './values/errors/errors.js';
import type { HostResponse, HostUrl, HostWasmModule } from './values/model/host.js';

export * from './exports.js';

/** Milliseconds for loading the wasm: enough for a slow network. All calls of services wait for it. */
const TIMEOUT_MS = 60_000;

/** The location of the wasm: its URL, its bytes, a Response with them, or the compiled module. */
export type WasmLocation =
  string | HostUrl | HostResponse | ArrayBuffer | ArrayBufferView | HostWasmModule;

/**
 * Loads the wasm. Calls made meanwhile wait for it; synchronous ones throw `not_loaded`.
 *
 * @param location the location or a promise of it, which has 60 s to be there. After a failure the next
 *   call of any method tries again, and fetches a URL again.
 * @throws SessionError (as a rejection) `wasm_unavailable`, naming URL, status and content type
 *
 * @example
 * ```ts
 * import { InMemorySessionService, loadWasm } from 'adk-session-wasm/slim';
 *
 * await loadWasm(new URL('./adk_session_wasm_bg.wasm', import.meta.url));
 * const service = new InMemorySessionService();
 * ```
 */
export async function loadWasm(location: WasmLocation | Promise<WasmLocation>): Promise<void> {
  provideWasm({ module: () => compileInTime(location) });
  await load();
}

async function compileInTime(
  location: WasmLocation | Promise<WasmLocation>,
): Promise<WebAssembly.Module> {
  const limit = new TimeLimit(TIMEOUT_MS, lateWasm);
  try {
    const compiled = (async () => compile(await location, limit.signal))();
    return await limit.race(compiled);
  } finally {
    limit.end();
  }
}

function lateWasm(): SessionError {
  const message = `The wasm was not there within ${TIMEOUT_MS} ms; the next call tries again.`;
  return new SessionError('wasm_unavailable', message);
}

async function compile(location: WasmLocation, signal: AbortSignal): Promise<WebAssembly.Module> {
  if (location instanceof WebAssembly.Module) return location;
  if (typeof location === 'string' || location instanceof URL)
    return compile(await fetch(location, { signal }), signal);
  if (!(location instanceof Response)) return WebAssembly.compile(location as BufferSource);
  // Not `compileStreaming`, which fails if the server sends another content type.
  const bytes = new Uint8Array(await location.clone().arrayBuffer());
  const isWasm = [0x00, 0x61, 0x73, 0x6d].every((byte, at) => bytes[at] === byte);
  if (location.ok && isWasm) return WebAssembly.compile(bytes);
  const type = location.headers.get('content-type') ?? 'no content type';
  throw new SessionError(
    'wasm_unavailable',
    `${location.url || 'The response'} is not the wasm file: HTTP ${location.status}, ${type}. ` +
      'Serve pkg/adk_session_wasm_bg.wasm there.',
  );
}
