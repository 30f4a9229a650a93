// What a script of this repository needs before it runs: the packages, and js/dist/ as js/ is now. Plain JavaScript
// without packages, since a fresh clone has none. No Rust is needed: the wasm is committed in pkg/.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Compares versions and not file times, which a clone or a branch switch changes.
 *
 * @returns {boolean}
 */
function packagesAreCurrent() {
  const installed = join(root, 'node_modules/.package-lock.json'); // written last by npm
  if (!existsSync(installed)) return false;
  const { packages: there } = JSON.parse(readFileSync(installed, 'utf8'));
  const { packages: wanted } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(wanted).every(([path, { version, optional, devOptional }]) => {
    const isThere = there[path]?.version === version;
    return path === '' || isThere || (there[path] === undefined && (optional || devOptional));
  });
}

/** @returns {boolean} */
function distIsCurrent() {
  const built = join(root, 'js/dist/adk/index.js');
  if (!existsSync(built)) return false;
  const time = statSync(built).mtimeMs;
  return sources(join(root, 'js')).every((file) => statSync(file).mtimeMs <= time);
}

/** @param {string} folder @returns {string[]} */
function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return ['dist', 'examples', 'build', 'playground'].includes(entry.name) ? [] : sources(path);
    }
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

/** @param {string} script @param {string} why @param {string[]} args */
function npm(script, why, ...args) {
  console.log(`${why}: npm ${args.join(' ')}`);
  // On Windows npm is a script, which only a shell can start.
  const options = { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' };
  const { status, error } = spawnSync('npm', args, /** @type {any} */ (options));
  if (status === 0) return;
  console.error(
    `${script}: npm ${args.join(' ')} failed${error ? `: ${error.message}` : ', see above'}`,
  );
  process.exit(1);
}

/** Installs the packages and builds js/dist/ if they are missing or outdated. @param {string} script */
export function makeReady(script) {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    console.error(`${script}: needs Node 20 or later, and this is ${process.version}`);
    process.exit(1);
  }
  if (!packagesAreCurrent()) {
    // Without install scripts: one compiles a database driver, which takes long and is not needed here.
    npm(script, 'Installing what package-lock.json names, once', 'ci', '--ignore-scripts');
  }
  if (!distIsCurrent()) npm(script, 'Compiling js/ to js/dist/', 'run', 'build:js');
}
