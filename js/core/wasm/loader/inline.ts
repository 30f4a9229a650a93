/**
 * The wasm inside the JavaScript, as text. Works in every host with modules and in every bundler,
 * without configuration.
 *
 * Asynchronous calls let the host compile it while the page goes on. Synchronous calls compile it
 * on the calling thread. Browsers allow that on the main thread up to 8 MB.
 */
import { textSource } from './text_source.js';
import * as wasm from './wasm_text.js';

export const source = textSource(wasm);
