/**
 * The wasm inside the JavaScript, gzipped and as base64. Works in every host with modules and in
 * every bundler, without configuration.
 *
 * Asynchronous calls let the host inflate and compile it while the page goes on. Synchronous calls
 * need it at once. They inflate it with fflate, because a DecompressionStream returns only a
 * promise, and compile it on the calling thread. Browsers allow that on the main thread up to 8 MB.
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
  // Some hosts do not have `fromBase64` yet. On a cold page with unoptimised code, the loop below
  // takes milliseconds.
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
    // Older browsers have no DecompressionStream. In a test environment, `Response` may not be the
    // host's own.
    return gunzipSync(bytes);
  }
}
