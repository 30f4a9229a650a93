// The database service of `@google/adk`, with the packages that it needs for SQLite.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPackages } from '../../tests/toolchain/npm_packages.mjs';

/**
 * The packages include the peer itself, because it finds its driver only next to itself. Version 6.6.17 of
 * `@mikro-orm/sqlite` needs a package that npm does not find.
 */
const packages = {
  '@google/adk': '2.0.0',
  '@mikro-orm/core': '6.6.16',
  '@mikro-orm/sqlite': '6.6.16',
};
const source = `export { createEvent } from '@google/adk';
export { DatabaseSessionService } from '@google/adk/sessions/database';
`;

/** Loads the peer's service and its function that makes events. */
export async function loadPeer() {
  const entry = join(installPackages('bench-database', packages), 'peer.mjs');
  // From a module in that folder, because packages are resolved from the importing module.
  writeFileSync(entry, source);
  const { DatabaseSessionService, createEvent } = await import(pathToFileURL(entry).href);
  return { DatabaseSessionService, createEvent };
}
