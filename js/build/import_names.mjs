// Short names for what the wasm imports from its glue.
//
// wasm-bindgen names each import after what it calls and a hash, which no compression makes shorter:
// of 100 imports, 2.5 kB of the gzipped wasm. Nobody else knows these names.

import { Reader } from './wasm_reader.mjs';

const IMPORTS = 2;

/** @param {number} number */
function encoded(number) {
  const bytes = [];
  for (; number > 127; number >>>= 7) bytes.push((number & 127) | 128);
  return Buffer.from([...bytes, number]);
}

/**
 * Only functions are imported: a memory or a table would have to be read in another way.
 *
 * @param {Reader} section
 * @param {string[]} names Gets the names as they were.
 */
function renamed(section, names) {
  const count = section.number();
  const parts = [encoded(count)];
  for (let index = 0; index < count; index++) {
    const module = section.take(section.number());
    names.push(section.take(section.number()).toString());
    if (section.number() !== 0) throw new Error(`${names[index]} is no function`);
    const name = short(index);
    parts.push(encoded(module.length), module, encoded(name.length), Buffer.from(name));
    parts.push(encoded(0), encoded(section.number()));
  }
  return Buffer.concat(parts);
}

/** @param {number} index */
function short(index) {
  return `_${index.toString(36)}`;
}

/**
 * @param {Buffer} wasm
 * @param {string} glue
 */
export function shortenImports(wasm, glue) {
  const reader = new Reader(wasm);
  const parts = [reader.take(8)];
  /** @type {string[]} */
  const names = [];
  while (reader.at < wasm.length) {
    const kind = reader.number();
    const section = reader.take(reader.number());
    const body = kind === IMPORTS ? renamed(new Reader(section), names) : section;
    parts.push(encoded(kind), encoded(body.length), body);
  }
  const known = new Map(names.map((name, index) => [name, short(index)]));
  const member = /^( {8})(\w+)(: function\()/gmu;
  const found = [...glue.matchAll(member)].filter(([, , name]) => known.has(name));
  if (found.length !== names.length)
    throw new Error('the glue gives its imports in another way now');
  const shortened = glue.replace(
    member,
    (_, indent, name, rest) => `${indent}${known.get(name) ?? name}${rest}`,
  );
  return { wasm: Buffer.concat(parts), glue: shortened };
}
