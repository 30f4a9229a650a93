/**
 * The wasm inside the JavaScript, as text. Works in every host with modules and in every bundler,
 * without configuration.
 *
 * Asynchronous calls let the host compile it while the page goes on. Synchronous calls compile it
 * on the calling thread. Browsers allow that on the main thread up to 8 MB.
 */
import type { WasmSource } from './source.js';
import { bytes, DIGITS, FIRST, text } from './wasm_text.js';

export const source: WasmSource = {
  moduleNow: () => new WebAssembly.Module(wasm()),
  module: () => WebAssembly.compile(wasm()),
};

/** Decodes the text: a byte is a digit, or a prefix and a digit. */
function wasm(): Uint8Array<ArrayBuffer> {
  const decoded = new Uint8Array(text.length);
  let length = 0;
  let prefix = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - FIRST;
    if (digit < DIGITS) {
      decoded[length++] = bytes[prefix + digit]!;
      prefix = 0;
    } else {
      prefix = (digit - DIGITS + 1) * DIGITS;
    }
  }
  return decoded.subarray(0, length);
}
