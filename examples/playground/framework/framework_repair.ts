// Repairs the browser build of @google/adk while a page is bundled.
//
// The build of 2.0.0 does not run in browsers. Each file begins with `import {createRequire} from 'module'`, one file
// does not parse, and modules for servers (credentials, zip files, a logger to files) are imported. Each repair removes
// one of these causes, and does nothing if a version lacks the cause. `bundle.ts` skips the repairs if the published
// build can be bundled.

import { isBuiltin } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin, PluginBuild } from 'esbuild';

const WEB = ['', '@google', 'adk', 'dist', 'web', ''].join(sep);

/** Packages that are for servers, which the framework imports in its browser build too. */
const SERVER_PACKAGES = /^(?:adm-zip|google-auth-library|@google-cloud\/vertexai)(?:\/|$)/;

/** The modules that are used while the framework loads, or in an agent's turn. */
const STUBS: Record<string, string> = {
  module: stub('module'),
  net: stub('net'),
  winston: stub('winston'),
};

const ABSENT = 'absent';

export const frameworkRepair: Plugin = {
  name: 'framework-repair',
  setup(build) {
    takeTheRightSyntax(build);
    replaceImports(build);
  },
};

/**
 * Takes one file from the build for Node. In that for browsers, a lowered `super` in an async generator does not parse.
 */
function takeTheRightSyntax(build: PluginBuild): void {
  build.onLoad({ filter: /[\\/]dist[\\/]web[\\/]models[\\/]apigee_llm\.js$/ }, async ({ path }) => {
    if (!path.includes(WEB)) return undefined;
    const forNode = path.replace(`${sep}web${sep}models`, `${sep}esm${sep}models`);
    return { contents: await readFile(forNode, 'utf8'), resolveDir: dirname(path) };
  });
}

function replaceImports(build: PluginBuild): void {
  build.onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
    // Only imports of the framework are replaced. Such an import in our own code is an error, which must show.
    if (!importer.includes(WEB)) return undefined;
    const name = path.replace(/^node:/, '');
    // The package has this module for browsers, and does not use it.
    if (name === 'async_hooks') return { path: join(webOf(importer), 'utils/async_hooks_shim.js') };
    if (STUBS[name] !== undefined) return { path: STUBS[name] };
    return isBuiltin(path) || SERVER_PACKAGES.test(path) ? { path, namespace: ABSENT } : undefined;
  });
  build.onLoad({ filter: /.*/, namespace: ABSENT }, ({ path }) => ({
    // A CommonJS module, because any name can be imported from one.
    contents: `module.exports = require(${JSON.stringify(stub('absent'))}).absent(${JSON.stringify(path)})`,
    resolveDir: dirname(stub('absent')),
  }));
}

function webOf(file: string): string {
  return file.slice(0, file.lastIndexOf(WEB) + WEB.length);
}

function stub(name: string): string {
  return fileURLToPath(new URL(`stubs/${name}.ts`, import.meta.url));
}
