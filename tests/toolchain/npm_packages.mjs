// Installs npm packages that only some tests or benches need, below target/packages/. Each folder of tests/packages/ has
// their versions in its lockfile. As devDependencies, they would add several hundred MB to every installation, even for
// `npm run demo`, and several versions of one package would exclude each other.
//
//   node tests/toolchain/npm_packages.mjs FOLDER COMMAND [ARGUMENT…]    installs a folder's packages and runs a command of theirs

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './environment.mjs';

/**
 * Installs the packages of a folder unless they are there.
 *
 * @param {string} name a folder of tests/packages/
 * @returns {string} the folder that has them in its node_modules
 */
export function installPackages(name) {
  const source = join(root, 'tests', 'packages', name);
  const lock = readFileSync(join(source, 'package-lock.json'), 'utf8');
  const target = join(root, 'target', 'packages', name);
  // Under another name: frameworks take the folder of a lockfile for the root of a repository.
  const isInstalled = () => {
    const file = join(target, 'installed.json');
    return existsSync(file) && readFileSync(file, 'utf8') === lock;
  };
  return madeFolder(target, isInstalled, (folder) => {
    console.error(`installing the packages of tests/packages/${name}, once (a minute or two)`);
    for (const file of ['package.json', 'package-lock.json']) {
      copyFileSync(join(source, file), join(folder, file));
    }
    // On Windows npm is a script, which only a shell can start.
    const shell = process.platform === 'win32';
    const options = { cwd: folder, encoding: /** @type {const} */ ('utf8'), shell };
    const { status, stderr } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], options);
    if (status !== 0) throw new Error(`npm could not install tests/packages/${name}:\n${stderr}`);
    renameSync(join(folder, 'package-lock.json'), join(folder, 'installed.json'));
  });
}

/**
 * Makes a folder unless it is made. It appears as a whole: two processes may make it at the same time, and one that is
 * killed leaves no half of it.
 *
 * @param {string} folder
 * @param {() => boolean} isMade
 * @param {(folder: string) => void} make fills an empty folder, which then gets the name
 * @returns {string} the folder
 */
export function madeFolder(folder, isMade, make) {
  if (isMade()) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const part = mkdtempSync(`${folder}.`);
  try {
    make(part);
    if (!isMade()) {
      rmSync(folder, { recursive: true, force: true });
      renameSync(part, folder);
    }
  } catch (error) {
    // Another process may have put its own there in this moment.
    if (!isMade()) throw error;
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = '', command = '', ...args] = process.argv.slice(2);
  const folder = installPackages(name);
  const program = join(folder, 'node_modules/.bin', command);
  // On Windows the command is a script, which only a shell can start.
  const options = { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' };
  process.exitCode = spawnSync(program, args, /** @type {any} */ (options)).status ?? 1;
}
