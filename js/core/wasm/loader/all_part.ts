/**
 * The build with all. In hosts that load one module, such as Node, `#rules` of package.json leads here: it serves every
 * service there.
 */
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
} from '#glue';
import { source } from '#wasm-source';
import type { RulesPlace } from './source.js';

export const part = {
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
  source,
};

export const rules: RulesPlace = part;
