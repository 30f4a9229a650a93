// PostgreSQL, MariaDB, and Vertex AI on loopback. The prototypes of the client are poisoned, once it is connected.

import { after, before } from 'node:test';
import { emptied, type Server, startMariadb, startPostgres } from '../../js/database/servers.js';
import { startVertexServer, type VertexServer } from '../../vertex_server/server.js';
import { memberNames } from './names.js';
import { inThread, type Poison, POISONS, withstands } from './withstands.js';

const OF_DATABASES = memberNames((file) => /^(?:database|python)\//.test(file));
const OF_VERTEX = memberNames((file) => /^(?:vertex|python)\//.test(file));

let postgres: Server;
let mariadb: Server;
let vertex: VertexServer;
before(async () => {
  [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()]);
  vertex = await startVertexServer({ operations: -1 });
});
after(async () => {
  await Promise.all([postgres.remove(), mariadb.remove(), vertex.end()]);
});

for (const poison of Object.keys(POISONS) as Poison[]) {
  withstands('postgresql', poison, OF_DATABASES, async (names) =>
    inThread({ storage: 'server', poison, names, url: await emptied('postgresql', postgres) }),
  );
  withstands('Vertex AI', poison, OF_VERTEX, (names) =>
    inThread({ storage: 'vertex', poison, names, url: vertex.url }),
  );
  // A package below mysql2 assigns a `toString` to a prototype of its own, which throws once Object.prototype is frozen.
  if (poison === 'frozenBefore') continue;
  withstands('mariadb', poison, OF_DATABASES, async (names) =>
    inThread({ storage: 'server', poison, names, url: await emptied('mariadb', mariadb) }),
  );
}
