/** The rules alone, inside the JavaScript as text: the part of a page whose services keep no data in the wasm. */
import {
  DrivenWrite,
  artifact_message,
  ask_history,
  describe_missing,
  has_room,
  initSync,
  merge_states,
  scan_template,
  setTextCoders,
} from '#rules-glue';
import * as wasm from './rules_text.js';
import type { WasmPart } from './source.js';
import { textSource } from './text_source.js';

export const part: WasmPart = {
  glue: {
    DrivenWrite,
    artifact_message,
    ask_history,
    describe_missing,
    has_room,
    initSync,
    merge_states,
    scan_template,
    setTextCoders,
  },
  source: textSource(wasm),
};
