declare module '*.wasm' {
  const module: WebAssembly.Module;
  export default module;
}

declare module '*.wasm?module' {
  const module: WebAssembly.Module;
  export default module;
}

/** A wasm as text; written by `js/build/wasm_text.mjs`. For its members see `WasmText` of `text_source.ts`. */
declare module '*_text.js' {
  export const text: string;
  export const bytes: readonly number[];
  export const FIRST: number;
  export const DIGITS: number;
}
