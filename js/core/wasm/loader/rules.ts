/** The rules alone, inside the JavaScript as text: the part of a page whose services keep no data in the wasm. */
import * as glue from '#rules-glue';
import * as wasm from './rules_text.js';
import type { WasmPart } from './source.js';
import { textSource } from './text_source.js';

export const part: WasmPart = { glue, source: textSource(wasm) };
