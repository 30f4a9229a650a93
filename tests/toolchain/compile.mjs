// Compiles js/, examples/, tests/, bench/ and pkg/ into target/compiled/, a tree of the same shape, from which the tests run.
// Its package.json leads the `#` imports of package.json into this tree, so that a test needs no js/dist/. The package by
// its name is js/dist/. With tsx, each test file would take half a second more.
//
//   node tests/toolchain/compile.mjs     what changed since the last time
//
// Two runs may compile at the same time: a file is replaced as a whole, and only a file whose source is gone is deleted.

import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { GENERATED } from '../../js/build/generated.mjs';
import { root } from './environment.mjs';

const compiled = join('target', 'compiled');
/** Whether this repository made the tree that is there. */
let isOwn = false;
const FOLDERS = ['js', 'examples', 'tests', 'bench', 'pkg'];

/** Returns the path of a source's compiled file. @param {string} file */
export function compiledPath(file) {
  return join(compiled, file.replace(/\.(?:tsx|([cm]?)ts)$/, '.$1js'));
}

/** @param {string} folder @returns {string[]} */
function filesIn(folder) {
  const names = fs.readdirSync(join(root, folder), { encoding: 'utf8', recursive: true });
  return names.map((name) => join(folder, name)).filter((file) => /\.\w+$/.test(file));
}

/** @param {string} file */
const isSource = (file) =>
  /\.([cm]?[jt]s|tsx|json)$/.test(file) &&
  !/\.d\.[cm]?ts$|[\\/](dist|node_modules|target)[\\/]/.test(file);

/** @param {string} file */
const timeOf = (file) => fs.statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Writes a file of the tree unless it is newer than its sources. @param {string} path @param {string[]} sources @param {() => string | Promise<string>} text */
async function update(path, sources, text) {
  const time = timeOf(path);
  if (
    isOwn &&
    time > 0 &&
    [...sources, 'tests/toolchain/compile.mjs'].every((one) => timeOf(one) < time)
  ) {
    return;
  }
  const whole = join(root, path);
  fs.mkdirSync(dirname(whole), { recursive: true });
  fs.writeFileSync(`${whole}.${process.pid}`, await text());
  fs.renameSync(`${whole}.${process.pid}`, whole);
}

/** @param {string} file */
async function compiledText(file) {
  const source = join(root, file);
  const text = fs.readFileSync(source, 'utf8');
  if (file.endsWith('.json')) return text;
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

/** The package.json of the tree. It names the repository, whose path is in each compiled file. */
function packageText() {
  const { imports } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
  const text = JSON.stringify({ type: 'module', imports, root }, undefined, 2);
  return text.replaceAll('"./js/dist/', '"./js/');
}

/** Lets the tree import the package by its name. */
function linkPackage() {
  const link = join(root, 'target/node_modules/adk-session-wasm');
  const isLinked = () => fs.existsSync(link) && fs.realpathSync(link) === fs.realpathSync(root);
  if (isLinked()) return;
  fs.mkdirSync(dirname(link), { recursive: true });
  fs.rmSync(link, { force: true });
  try {
    fs.symlinkSync(root, link, 'junction');
  } catch (error) {
    if (!isLinked()) throw error; // else another run was faster
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sources = FOLDERS.flatMap(filesIn).filter(isSource);
  const generated = GENERATED.map(({ file, from, text }) => {
    const path = join(compiled, 'js', file);
    return { path, from, text: () => text(fs.readFileSync(join(root, from))) };
  });
  const description = join(compiled, 'package.json');
  // A copy of another clone's tree is of no use.
  isOwn =
    timeOf(description) > 0 &&
    JSON.parse(fs.readFileSync(join(root, description), 'utf8')).root === root;
  await Promise.all([
    ...sources.map((file) => update(compiledPath(file), [file], () => compiledText(file))),
    ...generated.map(({ path, from, text }) => update(path, [from], text)),
  ]);
  await update(description, ['package.json'], packageText); // last: an interrupted compilation is repeated
  linkPackage();
  const kept = new Set([...sources.map(compiledPath), ...generated.map(({ path }) => path)]);
  for (const file of filesIn(compiled)) {
    // A name that ends in a number is a file that another run is writing.
    if (!kept.has(file) && file !== description && !/\.\d+$/.test(file))
      fs.rmSync(join(root, file));
  }
}
