/**
 * The build with all. In hosts that load one module, such as Node, `#rules` of package.json leads here: it serves every
 * service there.
 */
import * as glue from '#glue';
import { source } from '#wasm-source';
import type { RulesPlace } from './source.js';

export const part = { glue, source };

export const rules: RulesPlace = part;
