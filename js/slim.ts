/**
 * The package without the wasm: give its location to {@link loadWasm}. For pages that fetch and
 * cache the file (`adk-session-wasm/wasm`) instead of carrying it in their JavaScript.
 *
 * @module adk-session-wasm/slim
 */
import { loadWasm as load, provideWasm } from './wasm/loading.js';
import { SessionError } from './errors/errors.js';
import type { HostResponse, HostUrl, HostWasmModule } from './model/host.js';

export * from './exports.js';

/** Milliseconds for fetching the wasm: enough for a slow network. All calls of services wait for it. */
const FETCH_TIMEOUT_MS = 60_000;

/**
 * The location of the wasm: its URL, its bytes, a Response with them, or the compiled module.
 *
 * @example
 * ```ts
 * import { loadWasm, type WasmLocation } from 'adk-session-wasm/slim';
 *
 * const here: WasmLocation = new URL('./adk_session_wasm_bg.wasm', import.meta.url);
 * await loadWasm(here);
 * ```
 */
export type WasmLocation =
  string | HostUrl | HostResponse | ArrayBuffer | ArrayBufferView | HostWasmModule;

/**
 * Loads the wasm. Calls made meanwhile wait for it; synchronous ones throw `not_loaded`.
 *
 * @param location the location or a promise of it. A URL is fetched, within 60 s; after a failure the
 *   next call of any method fetches it again.
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
  provideWasm({ module: async () => compile(await location) });
  await load();
}

async function compile(location: WasmLocation): Promise<WebAssembly.Module> {
  if (location instanceof WebAssembly.Module) return location;
  if (typeof location === 'string' || location instanceof URL)
    return compile(await fetch(location, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) }));
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
