// `@google/adk`'s own DatabaseSessionService, with the packages that it needs for each engine.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { BaseSessionService, Event } from '@google/adk';
import { installPackages } from '../../toolchain/npm_packages.mjs';

/** The packages include the framework itself, because it finds its drivers only next to itself. */
const packages = {
  '@google/adk': '2.0.0',
  '@mikro-orm/core': '6.6.16',
  '@mikro-orm/mariadb': '6.6.16',
  '@mikro-orm/postgresql': '6.6.16',
  '@mikro-orm/sqlite': '6.6.16',
};
const source = `export { createEvent } from '@google/adk';
export { DatabaseSessionService } from '@google/adk/sessions/database';
`;

interface Peer {
  createEvent: (params: Partial<Event>) => Event;
  DatabaseSessionService: new (uri: string) => BaseSessionService & {
    /** Private there; nothing else ends its connections. */
    readonly orm?: { close(): Promise<void> };
  };
}

export async function loadPeer(): Promise<Peer> {
  // npm compiles the driver for SQLite, whose optimisation takes longer than all that is done with it.
  Object.assign(process.env, { CFLAGS: '-O0', CXXFLAGS: '-O0' });
  const entry = join(installPackages('adk-database', packages), 'peer.mjs');
  // From a module in that folder, because packages are resolved from the importing module.
  writeFileSync(entry, source);
  return (await import(pathToFileURL(entry).href)) as Peer;
}
