// Finds files and folders that import each other, and counts the files of folders. A type that is imported counts too.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from '../toolchain/environment.mjs';

/** @typedef {ReadonlyMap<string, ReadonlySet<string>>} Graph the files or folders, and those that each of them imports */

/** @returns {Graph} the files of js/ and examples/ */
export function importsOfTypeScript() {
  const files = ['js', 'examples']
    .flatMap((folder) => sourcesIn(folder, /\.tsx?$/))
    .filter((file) => !/(^js\/dist|\/node_modules)\//.test(file));
  return graphOf(files, (file, text) => {
    const { importedFiles } = ts.preProcessFile(text, true, true);
    const names = importedFiles.map(({ fileName }) => fileName);
    const local = names.filter((name) => name.startsWith('.'));
    const paths = local.map((name) => join(dirname(file), name.replace(/\.js$/, '.ts')));
    return paths.map((path) => (files.includes(`${path}x`) ? `${path}x` : path));
  });
}

/** @returns {Graph} the files of src/, both crates, without each mod.rs: it and the files in its folder are one module */
export function importsOfRust() {
  const files = sourcesIn('src', /\.rs$/).filter((file) => !/\/(mod|lib)\.rs$/.test(file));
  return graphOf(files, (file, text) => {
    const [code = ''] = text.replace(/\/\/.*/g, '').split('#[cfg(test)]\nmod ');
    const own = file.replace(/\.rs$/, '').split('/');
    const paths = code.matchAll(/\b(crate|super)((?:::\w+)*)(?:::\{([^}]*)\})?/g);
    // Of the two crates, the library cannot import the other.
    const crate = file.startsWith('src/wasm/') ? ['src', 'wasm'] : ['src'];
    return [...paths].flatMap(([, start, middle = '', last = '']) => {
      const base = start === 'crate' ? crate : own.slice(0, -1);
      const names = middle.split('::').slice(1);
      return last
        .split(',')
        .map((name) => moduleOf([...base, ...names, ...name.trim().split('::')]));
    });
  });
}

/** Returns the file or the folder of the longest module at the start of a path. @param {string[]} path */
function moduleOf(path) {
  for (let length = path.length; length > 0; length -= 1) {
    const module = path.slice(0, length).join('/');
    if (existsSync(join(root, `${module}.rs`))) return `${module}.rs`;
    if (existsSync(join(root, module, 'mod.rs'))) return join(module, 'mod.rs');
  }
  return '';
}

/** Returns the imports between folders. @param {Graph} files @param {(folder: string) => boolean} isMeant @returns {Graph} */
export function folders(files, isMeant = () => true) {
  /** @type {Map<string, Set<string>>} */
  const graph = new Map();
  for (const [file, imports] of files) {
    const folder = dirname(file);
    const others = [...imports].map((other) => dirname(other));
    const imported = graph.get(folder) ?? new Set();
    graph.set(folder, imported);
    for (const other of others) if (other !== folder && isMeant(other)) imported.add(other);
  }
  return new Map([...graph].filter(([folder]) => isMeant(folder)));
}

/** Whether a folder has no folders in it. @param {string} folder */
export function isLeaf(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).every((each) => each.isFile());
}

/** Returns the shortest way from each file or folder back to itself, each way once. @param {Graph} graph */
export function cycles(graph) {
  const found = new Map();
  for (const start of graph.keys()) {
    const way = wayBack(graph, start) ?? [];
    const name = [...way].sort().join();
    if (way.length > 0 && !found.has(name)) found.set(name, [...way, start].join(' → '));
  }
  return [...found.values()];
}

/** @param {Graph} graph @param {string} start */
function wayBack(graph, start) {
  const ways = [[start]];
  const seen = new Set();
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) ?? '') ?? []) {
      if (next === start) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

/** Returns the number of files of each folder in a folder, without those in folders of it. @param {string} folder */
export function fileCounts(folder) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const file of sourcesIn(folder, /\.\w+$/)) {
    if (!file.startsWith('js/dist/'))
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  return counts;
}

/** @param {string} folder @param {RegExp} ending */
function sourcesIn(folder, ending) {
  const files = readdirSync(join(root, folder), { encoding: 'utf8', recursive: true });
  return files.filter((file) => ending.test(file)).map((file) => join(folder, file));
}

/** @param {string[]} files @param {(file: string, text: string) => string[]} importsOf @returns {Graph} */
function graphOf(files, importsOf) {
  const read = files.map(
    (file) => /** @type {const} */ ([file, readFileSync(join(root, file), 'utf8')]),
  );
  return new Map(read.map(([file, text]) => [file, new Set(importsOf(file, text))]));
}
