/**
 * The wasm as a module of the host. Cloudflare's workerd compiles it when the worker is uploaded,
 * and forbids compiling bytes later.
 */
import module from '../../../../../pkg/adk_session_wasm_bg.wasm';
import type { WasmSource } from './source.js';

export const source: WasmSource = { moduleNow: () => module };
