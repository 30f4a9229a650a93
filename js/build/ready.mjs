// What the scripts of package.json need before they run: the packages, and js/dist/ as js/ is now. Plain JavaScript
// without packages, since a fresh clone has none. No Rust is needed: the wasm is committed in pkg/.
//
//   node js/build/ready.mjs    installs and builds what is missing or outdated

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Whether node_modules/ has what package-lock.json names. Compares versions and not file times, which a clone or a branch
 * switch changes.
 *
 * @returns {boolean}
 */
export function packagesAreCurrent() {
  const installed = join(root, 'node_modules/.package-lock.json'); // written last by npm
  if (!existsSync(installed)) return false;
  const { packages: there } = JSON.parse(readFileSync(installed, 'utf8'));
  const { packages: wanted } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(wanted).every(([path, { version, optional, devOptional }]) => {
    const isThere = there[path]?.version === version;
    return path === '' || isThere || (there[path] === undefined && (optional || devOptional));
  });
}

/** Whether js/dist/ was built after the last change of all that goes into it. @returns {boolean} */
export function distIsCurrent() {
  const built = join(root, 'js/dist/slim.js'); // written last by js/build/package.mjs
  if (!existsSync(built)) return false;
  const time = statSync(built).mtimeMs;
  const sources = ['js', 'pkg', 'conformance/cases.json', 'package-lock.json'];
  return sources.every((path) => isOlder(join(root, path), time));
}

/**
 * Whether a file, or a folder with all that is in it, did not change since then. A deleted file changes its folder's time.
 *
 * @param {string} path @param {number} time @returns {boolean}
 */
function isOlder(path, time) {
  const entry = statSync(path);
  if (entry.mtimeMs > time) return false;
  if (!entry.isDirectory()) return true;
  const names = readdirSync(path).filter((name) => name !== 'dist');
  return names.every((name) => isOlder(join(path, name), time));
}

/** @param {string} why @param {string[]} args */
function npm(why, ...args) {
  console.error(`${why}: npm ${args.join(' ')}`); // `npm pack --json` prints to stdout
  // Options of the npm that runs this script, such as --dry-run, are not for this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')),
  );
  const stdio = ['inherit', process.stderr, 'inherit'];
  const shell = process.platform === 'win32'; // npm is a script there, which only a shell can start
  const options = /** @type {any} */ ({ cwd: root, env, stdio, shell });
  const { status, error } = spawnSync('npm', args, options);
  if (error) throw error;
  if (status !== 0) process.exit(1); // npm has said why
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!packagesAreCurrent()) {
    // Without install scripts: one compiles a database driver, which takes long and is not needed here.
    npm('Installing what package-lock.json names, once', 'ci', '--ignore-scripts');
  }
  if (!distIsCurrent()) npm('Compiling js/ to js/dist/', 'run', 'build:js');
}
