/**
 * The wasm inside the JavaScript, as for browsers, but inflated by Node itself in half the time. It
 * is not read from a file, because a program bundled for a server would not find that file.
 */
import { gunzipSync } from 'node:zlib';
import type { WasmSource } from '../core.js';
import base64 from './inline_bytes.js';

export const source: WasmSource = {
  moduleNow: () => new WebAssembly.Module(gunzipSync(Buffer.from(base64, 'base64'))),
};
