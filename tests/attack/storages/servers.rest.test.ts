// PostgreSQL, MariaDB, PGlite, and Vertex AI on loopback.

import { after, before } from 'node:test';

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { openPglite } from '../../js/stores/database/kysely/pglite.mjs';
import { emptied } from '../../js/stores/database/servers.js';
import { serviceOn } from '../../js/stores/vertex/service.js';
import { startVertexServer, type VertexServer } from '../../vertex_server/server.js';
import { attack } from '../run.js';
import type { NameLimits } from '../cases/ids.js';
import { bothServers } from '../../js/stores/database/both_servers.js';

const servers = bothServers();
let pglite: Awaited<ReturnType<typeof openPglite>>;
let vertex: VertexServer;
before(async () => {
  pglite = await openPglite();
  vertex = await startVertexServer({ operations: -1 });
});
after(async () => {
  await Promise.all([pglite.close(), vertex.end()]);
});

/** The limits of the columns, in characters. */
const COLUMNS: NameLimits = { refusesNul: true, longest: 128 };

attack(
  {
    name: 'postgresql',
    ...COLUMNS,
    refusesNulInText: true,
    async open() {
      const url = await emptied('postgresql', servers.postgres);
      return new DatabaseSessionService(url, { durability: 'relaxed' });
    },
  },
  80,
  true,
);
attack(
  {
    name: 'mariadb',
    ...COLUMNS,
    async open() {
      return new DatabaseSessionService(await emptied('mariadb', servers.mariadb));
    },
  },
  65,
  true,
);
attack(
  {
    name: 'pglite',
    ...COLUMNS,
    refusesNulInText: true,
    async open() {
      await pglite.empty();
      const { kysely } = pglite;
      return new DatabaseSessionService({ kysely, engine: 'postgresql' });
    },
  },
  35,
  true,
);
attack(
  {
    name: 'vertex',
    app: 'shop',
    vertexIds: true,
    nullRemoves: true,
    open: () => Promise.resolve(serviceOn(vertex)),
  },
  35,
  true,
);
