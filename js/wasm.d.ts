/**
 * The file of the wasm, for {@link loadWasm} of the slim entry. What an import of it gives, the bundler decides: its URL, or a
 * compiled module, as in workerd.
 *
 * @module adk-session-wasm/wasm
 */
import type { HostWasmModule } from './values/model/host.js';

declare const wasm: string | HostWasmModule;
export default wasm;
