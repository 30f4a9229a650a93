// PostgreSQL, MariaDB, and Vertex AI on loopback.

import { after, before } from 'node:test';

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { emptied, type Server, startMariadb, startPostgres } from '../js/database/servers.js';
import { serviceOn } from '../js/vertex/service.js';
import { startVertexServer, type VertexServer } from '../vertex_server/server.js';
import { attack } from './run.js';
import type { NameLimits } from './ids.js';

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

/** As the columns are, in characters. */
const COLUMNS: NameLimits = { refusesNul: true, longest: 128 };

attack(
  {
    name: 'postgresql',
    ...COLUMNS,
    refusesNulInText: true,
    async open() {
      const url = await emptied('postgresql', postgres);
      return new DatabaseSessionService(url, { durability: 'relaxed' });
    },
  },
  1000,
);
attack(
  {
    name: 'mariadb',
    ...COLUMNS,
    async open() {
      return new DatabaseSessionService(await emptied('mariadb', mariadb));
    },
  },
  700,
);
attack(
  {
    name: 'vertex',
    app: 'shop',
    vertexIds: true,
    nullRemoves: true,
    open: () => Promise.resolve(serviceOn(vertex)),
  },
  200,
);
