import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../toolchain/environment.mjs';

/**
 * workerd and Deno, from npm. No devDependencies of ours: they are 250 MB, which `npm run demo` and most
 * work on the package have no use for.
 */
const tools = { deno: '2.9.6', workerd: '1.20261117.1' };
const folder = join(root, 'target/hosts');

/** Installs what is not there yet, and resolves from there. */
export function requireHostTools(): NodeJS.Require {
  const names = Object.keys(tools);
  if (!names.every((name) => existsSync(join(folder, 'node_modules', name)))) {
    console.log(`installing ${names.join(' and ')} below target/, once`);
    mkdirSync(folder, { recursive: true });
    const manifest = { private: true, dependencies: tools };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const { status, stderr } = spawnSync('npm', ['install', '--no-package-lock', '--no-fund'], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`npm could not install ${names.join(', ')}:\n${stderr}`);
  }
  return createRequire(join(folder, 'package.json'));
}
