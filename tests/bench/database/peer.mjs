// `@google/adk`'s own service on databases, with the packages that it needs for SQLite.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPackages } from '../../toolchain/npm_packages.mjs';

/**
 * The peer once more among them, since it finds its driver beside itself only. 6.6.17 of `@mikro-orm/sqlite`
 * asks for a package that npm does not find.
 */
const packages = {
  '@google/adk': '2.0.0',
  '@mikro-orm/core': '6.6.16',
  '@mikro-orm/sqlite': '6.6.16',
};
const source = `export { createEvent } from '@google/adk';
export { DatabaseSessionService } from '@google/adk/sessions/database';
`;

/** The peer's service, and how its users make events. */
export async function loadPeer() {
  const entry = join(installPackages('bench-database', packages), 'peer.mjs');
  // From a module in there, as packages are looked for from where they are asked for.
  writeFileSync(entry, source);
  const { DatabaseSessionService, createEvent } = await import(pathToFileURL(entry).href);
  return { DatabaseSessionService, createEvent };
}
