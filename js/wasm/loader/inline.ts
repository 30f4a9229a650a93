/**
 * The wasm within the JavaScript: gzipped, as base64. For every host that runs modules and every
 * bundler, with nothing to configure.
 *
 * Whoever can wait has it inflated and compiled by the host, beside what the page does. Synchronous
 * calls need it at once: they inflate it with fflate, since a DecompressionStream answers with a promise
 * only, and compile it where they are, which browsers allow on the main thread up to 8 MB.
 */
import { gunzipSync } from 'fflate';
import type { WasmSource } from '../core.js';
import base64 from './inline_bytes.js';

type Bytes = Uint8Array<ArrayBuffer>;

export const source: WasmSource = {
  moduleNow: () => new WebAssembly.Module(gunzipSync(packed())),
  module: async () => WebAssembly.compile(await inflated(packed())),
};

function packed(): Bytes {
  // Too young for some hosts. On a cold page, whose code is not optimised yet, all else takes milliseconds.
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Bytes };
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

async function inflated(bytes: Bytes): Promise<BufferSource> {
  try {
    const stream = new Response(bytes).body!.pipeThrough(new DecompressionStream('gzip'));
    return await new Response(stream).arrayBuffer();
  } catch {
    // Older browsers have no DecompressionStream, and what stands for a Response in a test's
    // environment may not be the host's.
    return gunzipSync(bytes);
  }
}
