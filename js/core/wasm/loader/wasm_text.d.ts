/** The wasm as text; written by `js/build/wasm_text.mjs`. */
export declare const text: string;
/** The bytes by their number in the text. */
export declare const bytes: readonly number[];
/** The character code of the digit 0. */
export declare const FIRST: number;
/** The number of digits. The characters after them are prefixes. */
export declare const DIGITS: number;
