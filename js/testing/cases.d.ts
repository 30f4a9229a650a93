/** `src/storage/conformance/cases.json`; written by `js/build/package.mjs`. */
import type { Case } from './case.js';
declare const cases: readonly Case[];
export default cases;
