// PostgreSQL, MariaDB, and Vertex AI on loopback. The client's prototypes are poisoned after it has connected.

import { after, before } from 'node:test';
import { emptied, type Server, startMariadb, startPostgres } from '../../js/database/servers.js';
import { startVertexServer, type VertexServer } from '../../vertex_server/server.js';
import { memberNames } from './names.js';
import { inThread, type Poison, POISONS, withstands } from './withstands.js';

const DATABASE_NAMES = memberNames((file) => /^(?:database|python)\//.test(file));
const VERTEX_NAMES = memberNames((file) => /^(?:vertex|python)\//.test(file));

let postgres: Server;
let mariadb: Server;
let vertex: VertexServer;
before(async () => {
  [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()]);
  // Node assigns names when it connects: each request needs a connection of its own, or only slow runs meet them.
  vertex = await startVertexServer({ operations: -1, requestsPerConnection: 1 });
});
after(async () => {
  await Promise.all([postgres.remove(), mariadb.remove(), vertex.end()]);
});

for (const poison of Object.keys(POISONS) as Poison[]) {
  withstands('postgresql', poison, DATABASE_NAMES, async (names) =>
    inThread({ storage: 'server', poison, names, url: await emptied('postgresql', postgres) }),
  );
  withstands('Vertex AI', poison, VERTEX_NAMES, (names) =>
    inThread({ storage: 'vertex', poison, names, url: vertex.url }),
  );
  // A dependency of mysql2 assigns `toString` to its own prototype, which throws after Object.prototype was frozen.
  if (poison === 'frozenBefore') continue;
  withstands('mariadb', poison, DATABASE_NAMES, async (names) =>
    inThread({ storage: 'server', poison, names, url: await emptied('mariadb', mariadb) }),
  );
}
