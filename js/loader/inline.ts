/**
 * The wasm within the JavaScript: gzipped, as base64. For every host that runs modules and every
 * bundler, with nothing to configure.
 *
 * Inflated by fflate and not by the host's DecompressionStream, which answers with a promise only:
 * synchronous calls need the wasm at once. Compiled at once too, which browsers allow on the main
 * thread up to 8 MB.
 */
import { gunzipSync } from 'fflate';
import type { WasmSource } from '../core.js';
import base64 from './inline_bytes.js';

export const source: WasmSource = {
  moduleNow() {
    const packed = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return new WebAssembly.Module(gunzipSync(packed));
  },
};
