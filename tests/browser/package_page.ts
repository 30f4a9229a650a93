// The package as a page loads it without a bundler: module by module, by an import map.

import { join } from 'node:path';

import { root } from '../toolchain/environment.mjs';
import type { Routes } from './server.js';

/** The folders from which such a page loads the package and its dependency. */
export const PACKAGE_ROUTES: Routes = {
  '/package/js/dist/': join(root, 'js/dist'),
  '/package/pkg/': join(root, 'pkg'),
  '/idb/': join(root, 'node_modules/idb/build'),
};

/** What the modules of the package import by name. */
const IMPORTED = {
  '#glue': '/package/pkg/adk_session_wasm.js',
  '#numbers': '/package/pkg/adk_session_numbers.js',
  '#rules': '/package/js/dist/core/wasm/loader/rules_on_demand.js',
  '#rules-glue': '/package/pkg/adk_session_rules.js',
  '#wasm-source': '/package/js/dist/core/wasm/loader/inline.js',
  idb: '/idb/index.js',
};

/** Keeps why a module did not load: a page has no other sign of it. See `START` in tab.ts. */
const KEEP_LOAD_ERROR = `addEventListener('error', ({ message, target }) => {
  globalThis.loadError ??= message ?? 'cannot load ' + target.src;
}, true);`;

/** Returns the HTML of a page that runs a module. @param imports what the page itself imports by name */
export function packagePage(module: string, imports: Readonly<Record<string, string>>): string {
  return `<!doctype html><meta charset="utf-8"><body>
<script>${KEEP_LOAD_ERROR}</script>
<script type="importmap">${JSON.stringify({ imports: { ...imports, ...IMPORTED } })}</script>
<script type="module" src="${module}"></script>`;
}
