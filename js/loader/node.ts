/** The wasm from its file, beside the package's other files. */
import { readFileSync } from 'node:fs';
import type { WasmSource } from '../core.js';

const file = new URL('../../../pkg/adk_session_wasm_bg.wasm', import.meta.url);

export const source: WasmSource = {
  moduleNow: () => new WebAssembly.Module(readFileSync(file)),
};
