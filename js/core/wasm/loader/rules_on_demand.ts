/** How a page gets the rules alone: by a file of their own, if it does not have the build with all. */
import { loadPart } from './part.js';
import type { RulesPlace } from './source.js';

export const rules: RulesPlace = async () => (await loadPart(() => import('./rules.js'))).part;
