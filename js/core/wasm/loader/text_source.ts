import type { WasmSource } from './source.js';

/** A module with a wasm as text. */
type WasmText = typeof import('./wasm_text.js');

/** Returns the source of a wasm that is text. */
export function textSource(wasm: WasmText): WasmSource {
  return {
    moduleNow: () => new WebAssembly.Module(decoded(wasm)),
    module: () => WebAssembly.compile(decoded(wasm)),
  };
}

/** Decodes the text: a byte is a digit, or a prefix and a digit. */
function decoded({ text, bytes, FIRST, DIGITS }: WasmText): Uint8Array<ArrayBuffer> {
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
