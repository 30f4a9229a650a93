// The tests of what changed since main, by imports.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './environment.mjs';

const SOURCE = /\.[cm]?[jt]sx?$/;
const TEST = /^tests\/js\/.*(?<!\.rest)\.test\.ts$/;

/** Returns the files that differ from where this branch left main, committed or not. @returns {string[]} */
export function changedFiles() {
  const base = ['origin/main', 'main']
    .map((branch) => git('merge-base', 'HEAD', branch)[0])
    .find((commit) => commit !== undefined);
  if (base === undefined) throw new Error('neither origin/main nor main is here to compare with');
  const changed = git('diff', '--name-only', '--no-renames', base);
  return [...new Set([...changed, ...git('ls-files', '--others', '--exclude-standard')])];
}

/**
 * Returns the nearest tests of each file: of those that import it; if there are none, of those that import an importer; and
 * so on. They are tests of the gate below tests/js/, without a browser.
 *
 * @param {readonly string[]} files
 * @returns {Promise<string[]>}
 */
export async function nearestTests(files) {
  const importers = await importersOfFiles();
  const tests = new Set(files.flatMap((file) => nearest(file, importers)));
  return [...tests].sort();
}

/** @param {string} file @param {ReadonlyMap<string, readonly string[]>} importers @returns {string[]} */
function nearest(file, importers) {
  const seen = new Set([file]);
  for (let level = [file]; level.length > 0;) {
    const tests = level.filter((each) => TEST.test(each) && importers.has(each));
    if (tests.length > 0) return tests;
    level = level.flatMap((each) => importers.get(each) ?? []).filter((each) => !seen.has(each));
    for (const each of level) seen.add(each);
  }
  return [];
}

/** @returns {Promise<Map<string, string[]>>} each file, and those that import it */
async function importersOfFiles() {
  const { default: ts } = await import('typescript'); // here: run.mjs loads this file before the packages are installed
  const files = git('ls-files', '--cached', '--others', '--exclude-standard', 'js', 'tests').filter(
    (file) => SOURCE.test(file) && existsSync(join(root, file)), // a deleted file is listed too
  );
  /** @type {Map<string, string[]>} */
  const importers = new Map(files.map((file) => [file, []]));
  for (const file of files) {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true);
    for (const { fileName } of importedFiles) {
      if (!fileName.startsWith('.')) continue;
      const path = join(file, '..', fileName).replaceAll('\\', '/');
      const source = ['.js', '.ts', '.tsx']
        .map((ending) => path.replace(/\.js$/, ending))
        .find((name) => importers.has(name));
      importers.get(source ?? '')?.push(file);
    }
  }
  return importers;
}

/** @param {string[]} args @returns {string[]} the lines; none if Git fails */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
}
