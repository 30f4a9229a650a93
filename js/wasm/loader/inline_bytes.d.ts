/** The gzipped wasm as base64; written by `js/build/package.mjs`. */
declare const base64: string;
export default base64;
