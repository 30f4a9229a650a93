// What pkg/ changes in the glue that wasm-bindgen makes.
//
// - The coders of UTF-8 come from js/core/wasm/text_coders.ts. The generated glue makes them while it is imported,
//   which fails in hosts without them, such as Jest's jsdom.
// - Longer strings are encoded by the host. The generated glue copies a string into the wasm one character
//   after the other, which is several times slower. At the first one that is not ASCII it starts again from there.
//   `npm run bench -- glue` compares the two.
// - A module of another realm is taken as it is.
// - The names of imports end in numbers and not in hashes, which do not compress: they are 2.8 KB of a gzipped page.
// - The numbers of packed lists have no names by their values, which nothing reads.
// - The numbers of packed lists are in a file of their own, since the two builds share them.
// - Without the default export, which nothing calls, the module can be passed on as a whole.
// - The types have only what this package calls. The rest needs the types of the DOM.

/**
 * Code of the glue that encodes texts of more than 32 characters.
 *
 * The memory is reserved for one byte a character, as most texts need. What does not fit is encoded behind it.
 * The generated code encodes the whole text again, which costs twice as much for a text with one ’ near its end.
 */
export const HOST_ENCODER = `    if (len > 32) {
        let { read, written } = cachedTextEncoder.encodeInto(arg, mem.subarray(ptr, ptr + len));
        if (read < len) {
            const room = written + 3 * (len - read);
            ptr = realloc(ptr, len, room, 1) >>> 0;
            written += cachedTextEncoder.encodeInto(arg.slice(read), getUint8ArrayMemory0().subarray(ptr + written, ptr + room)).written;
            ptr = realloc(ptr, room, written, 1) >>> 0;
        }
        WASM_VECTOR_LEN = written;
        return ptr;
    }

`;

const LOOP = '    let offset = 0;\n\n    for (; offset < len; offset++) {';

const DECODER = `let cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
cachedTextDecoder.decode();
`;
const LATER_DECODER = `        cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
        cachedTextDecoder.decode();
`;
const ENCODER = `const cachedTextEncoder = new TextEncoder();

if (!('encodeInto' in cachedTextEncoder)) {
    cachedTextEncoder.encodeInto = function (arg, view) {
        const buf = cachedTextEncoder.encode(arg);
        view.set(buf);
        return {
            read: arg.length,
            written: buf.length
        };
    };
}
`;
const CODERS = `let newTextDecoder, cachedTextDecoder, cachedTextEncoder;

function setTextCoders(newDecoder, encoder) {
    newTextDecoder = newDecoder;
    cachedTextDecoder = newDecoder();
    cachedTextEncoder = encoder;
}
`;
/** Fails for a module of another realm, as Next's edge runtime has it. This package always passes a module. */
const BYTES = `    if (!(module instanceof WebAssembly.Module)) {
        module = new WebAssembly.Module(module);
    }
`;
const EXPORTS = 'export { initSync, __wbg_init as default };';
/** The name by its value in the object of an enum. */
const NAMES_BY_VALUE = /, "\d+": "\w+",/g;
/** An enum, with its comment. */
const NUMBERS = /(?:\/\*\*\n(?: \*.*\n)+)?export const \w+ = Object\.freeze\(\{\n[^}]*\}\);\n\n?/g;
/** An import whose name ends in a hash. */
const HASHED = /\b__wbg_\w+_[\da-f]{16}\b/g;

/** @param {string} text @param {readonly (readonly [string, string])[]} changes */
function replaced(text, changes) {
  for (const [part, change] of changes) {
    const [before, after, ...others] = text.split(part);
    if (before === undefined || after === undefined || others.length > 0) {
      throw new Error(`wasm-bindgen makes other glue now: there is not one of\n${part}`);
    }
    text = before + change + after;
  }
  return text;
}

/** @param {string} glue the JavaScript that wasm-bindgen made */
export function adaptedGlue(glue) {
  return replaced(glue.replace(NAMES_BY_VALUE, ','), [
    [LOOP, HOST_ENCODER + LOOP],
    [LATER_DECODER, '        cachedTextDecoder = newTextDecoder();\n'],
    [DECODER, CODERS],
    [ENCODER, ''],
    [BYTES, ''],
    [EXPORTS, 'export { initSync, setTextCoders };'],
  ]);
}

/**
 * Returns both with numbers in place of the hashes in the names of imports. The numbers have the length of the hashes.
 *
 * @param {string} glue
 * @param {Buffer} wasm
 */
export function withoutHashes(glue, wasm) {
  let text = glue;
  let bytes = wasm.toString('latin1');
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const name of [...new Set(glue.match(HASHED))].sort()) {
    const stem = name.slice(0, -16);
    const count = counts.get(stem) ?? 0;
    counts.set(stem, count + 1);
    const numbered = `${stem}${count.toString().padStart(16, '0')}`;
    text = text.replaceAll(name, numbered);
    bytes = replaced(bytes, [[name, numbered]]);
  }
  return { glue: text, wasm: Buffer.from(bytes, 'latin1') };
}

/** Returns the glue without its enums, and these. @param {string} glue */
export function withoutNumbers(glue) {
  const numbers = glue.match(NUMBERS) ?? [];
  return { glue: glue.replace(NUMBERS, ''), numbers: numbers.join('') };
}

/** @param {string} types the declarations of the glue */
export function adaptedTypes(types) {
  const [exported, others] = types.split('export type InitInput');
  if (others === undefined) throw new Error('wasm-bindgen declares other types now');
  return `${exported}/** The coders of UTF-8, set once before the module is instantiated. */
export function setTextCoders(
    newDecoder: () => { decode(bytes: Uint8Array): string },
    encoder: {
        encode(text: string): Uint8Array;
        encodeInto(text: string, view: Uint8Array): { read: number; written: number };
    },
): void;

/** Instantiates the module; \`undefined\` returns the exports of the existing instance. */
export function initSync(module: { module: object } | undefined): { readonly memory: { readonly buffer: ArrayBuffer } };
`;
}
