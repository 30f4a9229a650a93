// Builds the driver for SQLite if it is missing: `npm ci --ignore-scripts`, as in `npm run demo`, leaves it out.

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

try {
  const Sqlite = createRequire(import.meta.url)('better-sqlite3');
  new Sqlite(':memory:').close();
} catch {
  // On Windows npm is a script, which only a shell can start.
  const shell = process.platform === 'win32';
  const { status } = spawnSync('npm', ['rebuild', 'better-sqlite3'], { stdio: 'inherit', shell });
  process.exitCode = status ?? 1;
}
