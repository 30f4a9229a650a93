// Strings that stand in the wasm itself, decoded once.
//
// Names of stores, of members of records, and the like come out of the wasm each time they are used:
// some hundred times for a page of sessions. To decode them takes the host longer than what is done
// with them, and its string is one that the engine has not seen before, for which it must look up the
// name of a member anew.

import { Reader } from './wasm_reader.mjs';

const DATA = 11;
const I32_CONST = 0x41;

/** Bytes of the longest one that is kept. */
const LONGEST = 63;

/**
 * Where the data of the wasm begin and end in its memory. Below is the stack, above the heap; nothing
 * in between that is ever read as a string is written to.
 *
 * @param {Buffer} wasm
 */
function placeOfData(wasm) {
  const reader = new Reader(wasm);
  reader.take(8);
  let [start, end] = [Infinity, 0];
  while (reader.at < wasm.length) {
    const kind = reader.number();
    const section = new Reader(reader.take(reader.number()));
    if (kind !== DATA) continue;
    for (let left = section.number(); left > 0; left--) {
      if (section.number() !== 0 || section.number() !== I32_CONST)
        throw new Error('the data of the wasm lie in another way now');
      const offset = section.number();
      section.number(); // the end of the expression
      const { length } = section.take(section.number());
      start = Math.min(start, offset);
      end = Math.max(end, offset + length);
    }
  }
  return { start, end };
}

/**
 * @param {Buffer} wasm
 * @param {string} glue
 */
export function keepLiterals(wasm, glue) {
  const { start, end } = placeOfData(wasm);
  const name = 'getStringFromWasm0(ptr, len)';
  const decoding = `function ${name} {
    ptr = ptr >>> 0;
`;
  if (glue.split(decoding).length !== 2)
    throw new Error('the glue takes strings in another way now');
  const keeping = `const literals = new Map();
${decoding}    if (ptr < ${start} || ptr >= ${end} || len > ${LONGEST}) return decodeAt(ptr, len);
    const place = ptr * ${LONGEST + 1} + len;
    let literal = literals.get(place);
    if (literal === undefined) literals.set(place, (literal = decodeAt(ptr, len)));
    return literal;
}

function decodeAt(ptr, len) {
`;
  return glue.replace(decoding, keeping);
}
