// The test files: which there are, what each needs, and which are nearest to a change.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { root } from './environment.mjs';

/**
 * What a test file needs is what its modules name. `package` is js/dist/, `sqlite` the driver of npm; the others are parts of
 * setup/setup.sh.
 */
const NEEDS = Object.entries({
  package: /(from|import|\() ?['"`](adk-session-wasm[/'"`]|\.\/js\/dist\/)/,
  sqlite: /better-sqlite3|\bsqlite:/,
  postgresql: /\bPOSTGRES_PROGRAMS\b/,
  mariadb: /\bMARIADBD\b/,
  pgbouncer: /\bPGBOUNCER\b/,
  redis: /\bREDIS_SERVER\b/,
  python: /\bADK_PYTHON\b/,
  chromium: /\bwebDrivers\b/,
  'rust-wasm': /\bwasmEnv\b/,
  'wasm-bindgen': /\bwasmEnv\b/,
});

/** These browsers are named by the tests that use them. */
const OTHER_BROWSERS = Object.entries({
  firefox: /firefox/i,
  geckodriver: /firefox/i,
  webkit: /webkit/i,
});

/** Folders whose tests load the built package, in a page or in another program. */
const WITH_PACKAGE = /^tests\/(attack|browser|interop|packaging)\//;

const MOST_NEAREST = 8;
const MOST_NEAREST_OF_ALL = 24;

/** @type {Map<string, { imports: string[], text: string, needs: string[] }>} */
const modules = new Map();

/** @param {string} file */
function moduleOf(file) {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, file), 'utf8');
  const found = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g)];
  const paths = found.map(([, path = '']) => posix.join(dirname(file), path));
  const imports = paths.flatMap((path) =>
    ['.js', '.ts', '.tsx']
      .map((ending) => path.replace(/\.js$/, ending))
      .filter((name) => existsSync(join(root, name)))
      .slice(0, 1),
  );
  const code = text.replace(/^import type .*;$/gm, '');
  const needs = NEEDS.filter(([, pattern]) => pattern.test(code)).map(([name]) => name);
  const module = { imports, text, needs };
  modules.set(file, module);
  return module;
}

/** Returns a file and all that it imports, each with the length of the chain of imports. @param {string} file */
function importedBy(file) {
  const depths = new Map([[file, 0]]);
  for (const [each, depth] of depths) {
    for (const path of moduleOf(each).imports) if (!depths.has(path)) depths.set(path, depth + 1);
  }
  return depths;
}

/** Returns what a test file needs besides Node and the packages of npm. @param {string} file @returns {string[]} */
export function needsOf(file) {
  const isOfTests = (/** @type {string} */ path) => /^(tests(?!\/toolchain)|examples)\//.test(path);
  const names = [...importedBy(file).keys()]
    .filter(isOfTests)
    .flatMap((path) => moduleOf(path).needs);
  if (WITH_PACKAGE.test(file)) names.push('package');
  if (names.includes('chromium')) {
    const own = file + moduleOf(file).text;
    names.push(...OTHER_BROWSERS.filter(([, pattern]) => pattern.test(own)).map(([name]) => name));
  }
  return [...new Set(names)];
}

/** Whether a test file runs after `npm ci`, without setup.sh. @param {string} file */
export function needsNodeAlone(file) {
  return needsOf(file).every((need) => need === 'package' || need === 'sqlite');
}

/**
 * Returns the test files below a folder. Node 20 does not expand patterns itself.
 *
 * @param {string} folder
 * @param {boolean} isRest whether of the rest, or of the gate
 * @returns {string[]}
 */
export function testFiles(folder, isRest) {
  return readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .filter((file) => file.endsWith('.rest.test.ts') === isRest)
    .map((file) => posix.join(folder, file.replaceAll('\\', '/')))
    .sort();
}

/** Returns the files that differ from where this branch left main, committed or not. @returns {string[]} */
export function changedFiles() {
  const base = ['origin/main', 'main']
    .map((branch) => git('merge-base', 'HEAD', branch)[0])
    .find((commit) => commit !== undefined);
  if (base === undefined) throw new Error('neither origin/main nor main is here to compare with');
  const changed = git('diff', '--name-only', '--no-renames', base);
  const all = new Set([...changed, ...git('ls-files', '--others', '--exclude-standard')]);
  return [...all].filter((file) => existsSync(join(root, file))); // a deleted file is listed too
}

/**
 * Returns the nearest tests of files: first the test with the name of a file, then those in the folder of its name, then those that
 * reach it by the fewest imports. They are tests of the gate below tests/js/ that need Node alone. The nearest test of a test is that
 * test.
 *
 * @param {readonly string[]} files
 * @returns {string[]} the nearest first
 */
export function nearestTests(files) {
  const imported = testFiles('tests/js', false)
    .filter((test) => needsOf(test).every((need) => need === 'sqlite'))
    .map((test) => /** @type {const} */ ([test, importedBy(test)]));
  const ranked = files.map((file) => {
    if (file.endsWith('.test.ts')) return [file];
    const found = imported.flatMap(([test, depths]) => {
      const depth = depths.get(file);
      return depth === undefined ? [] : [{ test, far: farOf(test, file, depth) }];
    });
    return found.sort((one, other) => one.far - other.far).map(({ test }) => test);
  });
  const turns = Array.from({ length: MOST_NEAREST }, (_, at) => ranked.map((tests) => tests[at]));
  const tests = new Set(turns.flat().filter((test) => test !== undefined));
  return [...tests].slice(0, MOST_NEAREST_OF_ALL);
}

/** How far a test is from a source that it reaches by so many imports. @param {string} test @param {string} file @param {number} depth */
function farOf(test, file, depth) {
  const [one, other] = [test.replace('tests/', ''), file].map((path) =>
    path.replace(/\..*$/, '').split('/'),
  );
  const shared = one.findIndex((name, at) => name !== other[at]);
  const common = shared < 0 ? one.length : shared;
  const [ofTest = '', ofFile = ''] = [one.at(-1), other.at(-1)];
  const isNamed = ofTest === ofFile;
  const isBeside = common === other.length - 1;
  const steps = one.length + other.length - 2 * common;
  return depth + steps / 100 - (isBeside ? 100 : 0) - (isNamed ? 1000 : 0);
}

/** @param {string[]} args @returns {string[]} the lines; none if Git fails */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
}
