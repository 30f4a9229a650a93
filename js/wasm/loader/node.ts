/**
 * The wasm within the JavaScript, as for browsers, but inflated by Node itself, in half the time. Not
 * from its file: a program that was bundled for a server would look for it in vain.
 */
import { gunzipSync } from 'node:zlib';
import type { WasmSource } from '../core.js';
import base64 from './inline_bytes.js';

export const source: WasmSource = {
  moduleNow: () => new WebAssembly.Module(gunzipSync(Buffer.from(base64, 'base64'))),
};
