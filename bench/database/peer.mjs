// The database service of `@google/adk`, with the packages that it needs for SQLite.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPackages } from '../../tests/toolchain/npm_packages.mjs';

const source = `export { createEvent } from '@google/adk';
export { DatabaseSessionService } from '@google/adk/sessions/database';
`;

/** Loads the peer's service and its function that makes events. */
export async function loadPeer() {
  const entry = join(installPackages('adk_database'), 'peer.mjs');
  // From a module in that folder, which has the peer too: it finds its driver only next to itself.
  writeFileSync(entry, source);
  const { DatabaseSessionService, createEvent } = await import(pathToFileURL(entry).href);
  return { DatabaseSessionService, createEvent };
}
