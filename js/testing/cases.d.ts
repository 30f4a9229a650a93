/** The cases of `conformance/cases.json`; `js/build/package.mjs` generates the module. */
import type { Case } from './case.js';
export declare const cases: readonly Case[];
