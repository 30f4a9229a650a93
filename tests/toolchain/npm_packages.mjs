// Installs npm packages that only some tests or benches need, below target/. As devDependencies, they would add several
// hundred MB to every installation, even for `npm run demo`.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './environment.mjs';
import { madeFolder } from './made_folder.mjs';

/**
 * Installs the missing packages.
 *
 * @param {string} name the folder below target/
 * @param {Readonly<Record<string, string>>} packages names with exact versions
 * @returns {string} the folder
 */
export function installPackages(name, packages) {
  const target = join(root, 'target', name);
  const isInstalled = () =>
    Object.entries(packages).every(([of, version]) => {
      const manifest = join(target, 'node_modules', of, 'package.json');
      return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
    });
  return madeFolder(target, isInstalled, (folder) => {
    const names = Object.keys(packages).join(', ');
    console.error(`installing ${names} below target/, once (a minute or two)`);
    const manifest = { private: true, dependencies: packages };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const { status, stderr } = spawnSync('npm', ['install', '--no-package-lock', '--no-fund'], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`npm could not install ${names}:\n${stderr}`);
  });
}
