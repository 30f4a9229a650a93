declare module '*.wasm' {
  const module: WebAssembly.Module;
  export default module;
}

declare module '*.wasm?module' {
  const module: WebAssembly.Module;
  export default module;
}

/** A wasm as text; written by `js/build/wasm_text.mjs`. */
declare module '*_text.js' {
  export const text: string;
  /** The bytes by their number in the text. */
  export const bytes: readonly number[];
  /** The character code of the digit 0. */
  export const FIRST: number;
  /** The number of digits. The characters after them are prefixes. */
  export const DIGITS: number;
}
