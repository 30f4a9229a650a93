/** Takes the place of the default source in the slim entry, whose callers say where the wasm is. */
import type { WasmSource } from './source.js';

export const source: WasmSource | undefined = undefined;
