// `@google/adk`'s own DatabaseSessionService, with the packages that it needs for each engine.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { BaseSessionService, Event } from '@google/adk';
import { installPackages } from '../../toolchain/npm_packages.mjs';

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
  const entry = join(installPackages('adk_database'), 'peer.mjs');
  // From a module in that folder, which has the framework too: it finds its drivers only next to itself.
  writeFileSync(entry, source);
  return (await import(pathToFileURL(entry).href)) as Peer;
}
