// Compiles js/, examples/ and tests/ into target/compiled/, a tree of the same shape, from which the tests run. Compiling hundreds
// of files together takes a second. With tsx, every test file would take longer than that.
//
//   node tests/toolchain/compile.mjs

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from './environment.mjs';

export const compiled = join('target', 'compiled');

/** Returns the path of a source's compiled file. @param {string} file */
export function compiledPath(file) {
  return join(compiled, file.replace(/\.([cm]?)ts$/, '.$1js'));
}

/** @param {string} folder @returns {string[]} */
function sourcesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return ['dist', 'node_modules', 'target'].includes(entry.name) ? [] : sourcesIn(path);
    }
    return /\.([cm]?[jt]s|json)$/.test(path) && !/\.d\.[cm]?ts$/.test(path) ? [path] : [];
  });
}

/** @param {string} file */
async function compile(file) {
  const source = join(root, file);
  const text = readFileSync(source, 'utf8');
  const path = join(root, compiledPath(file));
  mkdirSync(dirname(path), { recursive: true });
  // Tests of another run may be reading the file.
  writeFileSync(
    `${path}.${process.pid}`,
    file.endsWith('.json') ? text : await compiledText(text, source),
  );
  renameSync(`${path}.${process.pid}`, path);
}

/** Deletes compiled files without a source. @param {string[]} files */
function clear(files) {
  const folder = join(root, compiled);
  if (!existsSync(folder)) return;
  const currentFiles = new Set(files.map((file) => join(root, compiledPath(file))));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && !currentFiles.has(path)) rmSync(path, { force: true });
  }
}

/** @param {string} text @param {string} source */
async function compiledText(text, source) {
  const { transform } = await import('esbuild'); // here: run.mjs imports this file before the packages are installed
  const { code } = await transform(text, {
    loader: /\.[cm]?ts$/.test(source) ? 'ts' : 'js',
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
  const files = ['js', 'examples', 'tests'].flatMap(sourcesIn);
  clear(files);
  await Promise.all(files.map(compile));
}
