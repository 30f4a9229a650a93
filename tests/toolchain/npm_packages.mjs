// Installs npm packages that only some tests or benches need, below target/. As devDependencies, they would add several
// hundred MB to every installation, even for `npm run demo`.
//
//   node tests/toolchain/npm_packages.mjs PACKAGE=VERSION[,…] COMMAND [ARGUMENT…]    installs packages and runs a command of theirs

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './environment.mjs';

/**
 * Installs the missing packages.
 *
 * @param {string} name the folder below target/
 * @param {Readonly<Record<string, string>>} packages names with exact versions
 * @returns {string} the folder
 */
export function installPackages(name, packages) {
  const target = join(root, 'target', name);
  const manifest = JSON.stringify({ private: true, dependencies: packages });
  const file = join(target, 'package.json');
  const isInstalled = () => existsSync(file) && readFileSync(file, 'utf8') === manifest;
  return madeFolder(target, isInstalled, (folder) => {
    const names = Object.keys(packages).join(', ');
    console.error(`installing ${names} below target/, once (a minute or two)`);
    writeFileSync(join(folder, 'package.json'), manifest);
    const { status, stderr } = spawnSync('npm', ['install', '--no-package-lock', '--no-fund'], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`npm could not install ${names}:\n${stderr}`);
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
  const [list = '', command = '', ...args] = process.argv.slice(2);
  const packages = Object.fromEntries(list.split(',').map((each) => each.split('=')));
  const folder = installPackages(command, packages);
  const program = join(folder, 'node_modules/.bin', command);
  // On Windows the command is a script, which only a shell can start.
  const options = { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' };
  process.exitCode = spawnSync(program, args, /** @type {any} */ (options)).status ?? 1;
}
