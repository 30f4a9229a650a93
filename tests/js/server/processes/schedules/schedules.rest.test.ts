import { after, before } from 'node:test';

import { startRedis } from '../../../examples/redis_server.js';
import { bothServers } from '../../../stores/database/both_servers.js';
import type { Server } from '../../../stores/database/servers.js';
import { keepsSchedules, REST_SEED } from './schedules.js';

const servers = bothServers();
let redis: Server;
before(async () => {
  redis = await startRedis();
});
after(() => redis.remove());

const postgres = () => `postgresql://adk@127.0.0.1:${servers.postgres.port}/adk`;
const mariadb = () => `mariadb://adk@127.0.0.1:${servers.mariadb.port}/adk`;
const redisUrl = () => `redis://127.0.0.1:${redis.port}`;

keepsSchedules(
  { title: 'PostgreSQL with its channel', size: 3, urlOf: postgres, channelOf: postgres },
  { first: REST_SEED, count: 15, lanes: 4 },
);
keepsSchedules(
  { title: 'PostgreSQL without a channel', size: 3, urlOf: postgres },
  { first: REST_SEED, count: 3, lanes: 3 },
);
keepsSchedules(
  { title: 'MariaDB without a channel', size: 3, urlOf: mariadb },
  { first: REST_SEED, count: 2, lanes: 2 },
);
keepsSchedules(
  { title: 'MariaDB with a channel of Redis', size: 3, urlOf: mariadb, channelOf: redisUrl },
  { first: REST_SEED, count: 3, lanes: 3 },
);
keepsSchedules(
  { title: 'SQLite', size: 2, urlOf: (log) => log.sqliteUrl },
  { first: REST_SEED, count: 3, lanes: 3 },
);
