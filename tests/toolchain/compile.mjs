// Compiles js/, examples/, tests/ and bench/ into target/compiled/, a tree of the same shape, from which the tests run. Compiling
// hundreds of files together takes a second. With tsx, each test file would take half a second more.
//
//   node tests/toolchain/compile.mjs

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from './environment.mjs';

const compiled = join('target', 'compiled');

/** Returns the path of a source's compiled file. @param {string} file */
export function compiledPath(file) {
  return join(compiled, file.replace(/\.(?:tsx|([cm]?)ts)$/, '.$1js'));
}

/** @param {string} folder @returns {string[]} */
function sourcesIn(folder) {
  const names = readdirSync(join(root, folder), { encoding: 'utf8', recursive: true });
  const isSource = (/** @type {string} */ path) =>
    /\.([cm]?[jt]s|tsx|json)$/.test(path) &&
    !/\.d\.[cm]?ts$|[\\/](dist|node_modules|target)[\\/]/.test(path);
  return names.map((name) => join(folder, name)).filter(isSource);
}

/** @param {string} file */
async function compile(file) {
  const source = join(root, file);
  const path = join(root, compiledPath(file));
  mkdirSync(dirname(path), { recursive: true });
  const text = readFileSync(source, 'utf8');
  writeFileSync(path, file.endsWith('.json') ? text : await compiledText(text, source));
}

/** @param {string} text @param {string} source */
async function compiledText(text, source) {
  const { transform } = await import('esbuild'); // here: run.mjs imports this file before the packages are installed
  const { code } = await transform(text, {
    loader: source.endsWith('.tsx') ? 'tsx' : /\.[cm]?ts$/.test(source) ? 'ts' : 'js',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    format: /\.c[jt]s$/.test(source) ? 'cjs' : 'esm',
    target: 'node20',
    sourcefile: source,
    sourcemap: 'inline',
    sourcesContent: false,
    // Files next to the source are found from the compiled file.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(source).href) },
  });
  return code;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(join(root, compiled), { recursive: true, force: true }); // with the files whose source is gone
  await Promise.all(['js', 'examples', 'tests', 'bench'].flatMap(sourcesIn).map(compile));
}
