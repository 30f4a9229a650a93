import { after, before } from 'node:test';

import { type Server, startPostgres } from '../../../stores/database/servers.js';
import { keepsSchedules } from './schedules.js';

let server: Server;
before(async () => {
  server = await startPostgres();
});
after(() => server.remove());

const url = () => `postgresql://adk@127.0.0.1:${server.port}/adk`;

keepsSchedules(
  { title: 'PostgreSQL with a channel', size: 3, urlOf: url, channelOf: url },
  { first: 101, count: 2, lanes: 2 },
);
