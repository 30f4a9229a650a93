// Packages of npm that only some tests or benches need, below target/: as devDependencies they would be several hundred MB for
// everybody, `npm run demo` included.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './environment.mjs';

/**
 * Installs what is not there yet.
 *
 * @param {string} name of the folder below target/
 * @param {Readonly<Record<string, string>>} packages their exact versions
 * @returns {string} the folder
 */
export function installPackages(name, packages) {
  const folder = join(root, 'target', name);
  const isThere = Object.entries(packages).every(([of, version]) => {
    const manifest = join(folder, 'node_modules', of, 'package.json');
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
  if (isThere) return folder;
  const names = Object.keys(packages).join(', ');
  console.error(`installing ${names} below target/, once (a minute or two)`);
  mkdirSync(folder, { recursive: true });
  const manifest = { private: true, dependencies: packages };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const { status, stderr } = spawnSync('npm', ['install', '--no-package-lock', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm could not install ${names}:\n${stderr}`);
  return folder;
}
