// Views are compiled to calls of `preact/jsx-runtime`. The package has Preact inside one module, and no such dependency.

import { dirname, relative } from 'node:path';

/** The module below js/dist/ into which the build puts Preact. */
export const PREACT = 'ui/inspector/view/preact.js';

/**
 * Lets a compiled module import the runtime of JSX from the module that has Preact.
 *
 * @param {string} file below js/dist/
 * @param {string} code
 */
export function withOwnRuntime(file, code) {
  const path = relative(dirname(file), PREACT).replaceAll('\\', '/');
  const own = path.startsWith('.') ? path : `./${path}`;
  return code.replace(/(["'])preact\/jsx-runtime\1/, `'${own}'`);
}
