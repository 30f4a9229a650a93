// Passing a text to the wasm: the glue of pkg/ compared with the glue of wasm-bindgen.

import { readFileSync } from 'node:fs';
import { HOST_ENCODER } from '../../js/build/glue.mjs';
import { atMost, inTurns, timeOfMany } from '../measure.mjs';

/** The length of an event's text. */
const TEXT = 'x'.repeat(580);

/** @param {string} name */
const read = (name) => readFileSync(new URL(`../../pkg/${name}`, import.meta.url));

/** Loads a glue with a new instance. @param {string} glue */
async function load(glue) {
  const { initSync, scan_template, setTextCoders } = await import(
    `data:text/javascript,${encodeURIComponent(glue)}`
  );
  setTextCoders(() => new TextDecoder('utf-8', { ignoreBOM: true }), new TextEncoder());
  initSync({ module: new WebAssembly.Module(read('adk_session_wasm_bg.wasm')) });
  return () => timeOfMany(10_000, () => scan_template(TEXT));
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function glue() {
  const ours = read('adk_session_wasm.js').toString();
  const generated = ours.replace(HOST_ENCODER, '');
  if (generated === ours) throw new Error('the glue has the encoder of wasm-bindgen');
  const times = await inTurns({ ours: await load(ours), peer: await load(generated) });
  return [
    atMost({
      case: 'a text of 580 characters into wasm',
      ours: times.ours * 1000,
      peer: times.peer * 1000,
      unit: 'µs',
      most: 0.7,
      than: "wasm-bindgen's encoder",
    }),
  ];
}
