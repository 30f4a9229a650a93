// Builds js/dist/, which the npm package ships besides pkg/:
//
// - the compiled TypeScript with source maps that hold their sources, the wasm as text for the inline loader, and the cases of the conformance suite
// - the view library of the inspector, inside one module
// - the slim entry as one file without the wasm, which pages without a bundler load too

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { GENERATED } from './generated.mjs';
import { PREACT, withOwnRuntime } from './jsx_runtime.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'js/dist');

/** @param {string} file @param {string} code */
function writeModule(file, code) {
  const path = join(dist, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
}

/** Bundles an entry into one file. @param {string} entry @param {import('esbuild').BuildOptions} options */
function bundle(entry, options) {
  return build({
    entryPoints: [join(dist, entry)],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'warning',
    sourcemap: true,
    ...options,
  });
}

/**
 * Imports at the start what is otherwise loaded on demand. In one file that saves nothing, and esbuild would wrap almost
 * every module into a function.
 *
 * @type {import('esbuild').Plugin}
 */
const atTheStart = {
  name: 'at-the-start',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]js[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
      /** @type {string[]} */
      const imports = [];
      const code = readFileSync(path, 'utf8').replace(/\bimport\(('[^']*')\)/g, (_, file) => {
        const name = `part${imports.length}`;
        imports.push(`import * as ${name} from ${file};`);
        return `Promise.resolve(${name})`;
      });
      // Behind the code, so that the lines of its source map hold.
      return { contents: [code, ...imports].join('\n') };
    });
  },
};

const started = Date.now();
for (const { file, from, text } of GENERATED)
  writeModule(file, text(readFileSync(join(root, from))));
for (const declaration of [
  'testing/cases.d.ts',
  'core/wasm/loader/wasm_module.d.ts',
  'wasm.d.ts',
]) {
  writeFileSync(join(dist, declaration), readFileSync(join(root, 'js', declaration)));
}

const tsc = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'js/tsconfig.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

const license = readFileSync(join(root, 'node_modules/preact/LICENSE'), 'utf8');
await bundle(PREACT, {
  outfile: join(dist, PREACT),
  allowOverwrite: true,
  minify: true,
  banner: { js: `/*! Preact\n\n${license}*/` },
});

for (const name of readdirSync(join(dist, 'ui/inspector'), { encoding: 'utf8', recursive: true })) {
  const file = join('ui/inspector', name);
  if (!file.endsWith('.js') || file === join(PREACT)) continue;
  writeModule(file, withOwnRuntime(file, readFileSync(join(dist, file), 'utf8')));
}

const alias = { '#wasm-source': join(dist, 'core/wasm/loader/none.js') };
// Last: `ready.mjs` takes its time for that of the build.
await bundle('slim.js', {
  alias,
  plugins: [atTheStart],
  outfile: join(dist, 'slim.js'),
  allowOverwrite: true,
  minify: true,
});

// Files of an earlier build whose source is gone. The others were replaced in place: a test that runs finds its module.
for (const name of readdirSync(dist, { encoding: 'utf8', recursive: true })) {
  const path = join(dist, name);
  if (statSync(path).isFile() && statSync(path).mtimeMs < started) rmSync(path);
}
