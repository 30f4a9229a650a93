/** How a page gets the rules alone: by a file of their own, if it does not have the build with all. */
import { loadChunk } from './chunk.js';
import type { RulesPlace } from './source.js';

export const rules: RulesPlace = async () => (await loadChunk(() => import('./rules.js'))).part;
