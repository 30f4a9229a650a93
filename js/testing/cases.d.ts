/** The cases of `src/conformance/cases.json`; `js/build/package.mjs` generates the module. */
import type { Case } from './case.js';
declare const cases: readonly Case[];
export default cases;
