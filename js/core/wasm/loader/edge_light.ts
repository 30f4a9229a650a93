/**
 * The wasm as a module of the host, like `workerd.ts`. The edge runtime of Vercel and Next forbids compiling
 * bytes, too. Its bundlers give the module to an import that ends in `?module`.
 */
import module from '../../../../../pkg/adk_session_wasm_bg.wasm?module';
import type { WasmSource } from './source.js';

export const source: WasmSource = { moduleNow: () => module };
