// The modules that are made from files: the cases of the conformance suite, and the wasm as a text of printable ASCII, for
// the loader that carries it inside the JavaScript.
//
// Servers compress JavaScript, and this text compresses as well as the wasm itself. Base64 shifts the
// bounds of bytes, so its compressed text is a third larger. Base64 of the gzipped wasm cannot profit
// from Brotli.
//
// The most common bytes become one character and the others two: a prefix and a digit. No character
// is a quote or a backslash, so every bundler prints the text as it is.

/** The character code of the digit 0, which is '#'. */
const FIRST = 35;
/** Characters that are digits; the next ones are the prefixes. */
const DIGITS = 88;
const BACKSLASH = 92;

/** The bytes of a file, the most common first. @param {Buffer} file */
function byFrequency(file) {
  const counts = new Array(256).fill(0);
  for (const byte of file) counts[byte] += 1;
  return [...counts.keys()].sort((a, b) => counts[b] - counts[a] || a - b);
}

/** A module with the text, and what `text_source.ts` needs to decode it. @param {Buffer} wasm */
export function wasmTextModule(wasm) {
  /** The bytes by the number of their text; a number with a backslash stands for no byte. */
  const bytes = [];
  const texts = new Array(256);
  for (const byte of byFrequency(wasm)) {
    if (FIRST + (bytes.length % DIGITS) === BACKSLASH) bytes.push(0);
    const prefix = Math.floor(bytes.length / DIGITS);
    const codes = [FIRST + (bytes.length % DIGITS)];
    if (prefix > 0) codes.unshift(FIRST + DIGITS + prefix - 1);
    texts[byte] = String.fromCharCode(...codes);
    bytes.push(byte);
  }
  const text = Array.from(wasm, (byte) => texts[byte]).join('');
  return (
    `export const FIRST = ${FIRST};\nexport const DIGITS = ${DIGITS};\n` +
    `export const bytes = ${JSON.stringify(bytes)};\nexport const text = ${JSON.stringify(text)};\n`
  );
}

/** The cases, parsed when they are loaded: as an object literal, a case's "__proto__" would set a prototype. @param {Buffer} json */
function casesModule(json) {
  const literal = JSON.stringify(JSON.stringify(JSON.parse(json.toString())));
  return `export const cases = JSON.parse(${literal});\n`;
}

/** The modules below js/, what each is made from, and how. */
export const GENERATED = [
  ...['wasm', 'rules'].map((name) => ({
    file: `core/wasm/loader/${name}_text.js`,
    from: `pkg/adk_session_${name}_bg.wasm`,
    text: wasmTextModule,
  })),
  { file: 'testing/cases.js', from: 'conformance/cases.json', text: casesModule },
];
