// Files on PostgreSQL and MariaDB: what they do over every home.

import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { FILE_BEHAVIOURS } from '../../service/artifacts/behaviours.js';
import { bothServers } from './both_servers.js';
import { emptied } from './servers.js';

const servers = bothServers();

for (const [name, server] of [
  ['postgresql', 'postgres'],
  ['mariadb', 'mariadb'],
] as const) {
  describe(`Files in ${name}`, () => {
    for (const [title, run] of FILE_BEHAVIOURS) {
      it(title, async () => {
        const url = await emptied(name, servers[server]);
        await run(new DatabaseSessionService(url, { artifacts: true }));
      });
    }
  });
}
