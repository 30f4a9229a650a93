// The entries of the package that have a source of their own, from `exports` of package.json, the only list of them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** @typedef {{ name: string, source: string }} Entry what users import, and its file in js/ */

/** @returns {Entry[]} */
export function entries() {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.entries(exports).flatMap(([path, { default: file = '' }]) => {
    if (!file.endsWith('.js')) return []; // the wasm, and package.json
    const source = file.replace(/^\.\/js\/dist\/(.*)\.js$/, 'js/$1.ts');
    return [{ name: path.replace('.', name), source }];
  });
}
