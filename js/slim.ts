/**
 * The same without the wasm: say where it is with {@link loadWasm}. For pages that would rather
 * fetch and cache the file (`adk-session-wasm/wasm`) than carry it in their JavaScript.
 *
 * @module adk-session-wasm/slim
 */
import { loadWasm as load, provideWasm } from './wasm/core.js';
import { SessionError } from './errors/errors.js';

export * from './exports.js';

/** Where the wasm is: its address, its bytes, an answer that brings them, or the compiled module. */
export type WasmLocation = string | URL | Response | BufferSource | WebAssembly.Module;

/**
 * Loads the wasm. Calls that are made meanwhile wait for it; synchronous ones throw `not_loaded`.
 *
 * @param location a promise of it is fine as well. An address is fetched; after a failure the next
 *   call of any method fetches it again.
 * @throws SessionError (as a rejection) `wasm_unavailable`, naming address, status and content type
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
    return compile(await fetch(location));
  if (!(location instanceof Response)) return WebAssembly.compile(location);
  // The bytes and not compileStreaming, which fails where a server names another content type.
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
