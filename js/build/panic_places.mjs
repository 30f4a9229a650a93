// Takes the places in the source at which it would panic out of the wasm: nobody ever sees them, as a panic stops the
// instance without a word, and they are a kilobyte of the gzipped wasm. For a compiler it is
// `-Z location-detail=none`, which the stable one does not take.

import { Reader } from './wasm_reader.mjs';

const DATA = 11;
const WORD = 4;

/** @param {Buffer} wasm */
function segmentsOf(wasm) {
  const reader = new Reader(wasm);
  reader.take(8);
  const segments = [];
  while (reader.at < wasm.length) {
    const kind = reader.number();
    const section = new Reader(reader.take(reader.number()));
    if (kind !== DATA) continue;
    for (let left = section.number(); left > 0; left--) {
      section.take(2); // its kind and the opcode before its place, which `keepLiterals` has checked
      const start = section.number();
      section.number(); // the end of the expression
      segments.push({ start, bytes: section.take(section.number()) });
    }
  }
  return segments;
}

/**
 * Each place is the address and length of a file's name, a line and a column. Nothing else in the data
 * has the address of a text that is the name of a Rust file.
 *
 * @param {Buffer} wasm is changed
 */
export function dropPanicPlaces(wasm) {
  const segments = segmentsOf(wasm);
  /** @param {number} at @param {number} length */
  const nameAt = (at, length) => {
    const segment = segments.find(({ start, bytes }) => at >= start && at < start + bytes.length);
    const name = segment?.bytes.subarray(at - segment.start, at - segment.start + length);
    return name && /^[\w./-]+\.rs$/.test(name.toString('latin1')) ? name : undefined;
  };
  const names = new Set();
  for (const { start, bytes } of segments) {
    for (let at = -start & (WORD - 1); at + 4 * WORD <= bytes.length; at += WORD) {
      const name = nameAt(bytes.readUInt32LE(at), bytes.readUInt32LE(at + WORD));
      if (name === undefined) continue;
      names.add(name);
      bytes.fill(0, at + WORD, at + 4 * WORD);
    }
  }
  for (const name of names) name.fill(' ');
}
