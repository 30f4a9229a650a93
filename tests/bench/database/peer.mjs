// `@google/adk`'s own service on databases, with the packages that it needs for SQLite.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../toolchain/environment.mjs';

/**
 * No devDependencies of ours: they are 200 MB, some of which is compiled, and only this compares with
 * them. The peer once more among them, since it finds its driver beside itself only. Exact versions:
 * 6.6.17 of `@mikro-orm/sqlite` asks for a package that npm does not find.
 */
const packages = {
  '@google/adk': '2.0.0',
  '@mikro-orm/core': '6.6.16',
  '@mikro-orm/sqlite': '6.6.16',
};
const folder = join(root, 'target', 'bench-database');
const entry = join(folder, 'peer.mjs');
const source = `export { createEvent } from '@google/adk';
export { DatabaseSessionService } from '@google/adk/sessions/database';
`;

function install() {
  const isThere = Object.entries(packages).every(([name, version]) => {
    const manifest = join(folder, 'node_modules', name, 'package.json');
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
  if (isThere) return;
  console.error("installing the peer's database packages below target/, once (a minute or two)");
  mkdirSync(folder, { recursive: true });
  const manifest = { private: true, dependencies: packages };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const { status, stderr } = spawnSync('npm', ['install', '--no-package-lock', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm could not install the peer's packages:\n${stderr}`);
}

/** The peer's service, and how its users make events. */
export async function loadPeer() {
  install();
  // From a module in there, as packages are looked for from where they are asked for.
  writeFileSync(entry, source);
  const { DatabaseSessionService, createEvent } = await import(pathToFileURL(entry).href);
  return { DatabaseSessionService, createEvent };
}
