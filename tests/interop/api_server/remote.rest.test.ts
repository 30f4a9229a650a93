// The remote client over the real `adk api_server`, on each kind of database that both know. One server for all tests of
// a database: its start takes longer than they do.

import { after, before, describe } from 'node:test';

import { RemoteSessionService } from '../../../js/service/remote/index.js';
import { type ApiServer, startApiServer } from './api_server.js';
import { remoteCalls } from './remote_calls.js';
import { remoteCopies } from './remote_copies.js';
import { remoteRuns } from './remote_runs.js';
import { SHARED_ENGINES } from '../database/shared_databases.js';

for (const [engine, start] of SHARED_ENGINES) {
  describe(`The remote client over adk api_server on ${engine}`, { timeout: 180_000 }, () => {
    const newDatabase = start();
    let server: ApiServer;
    let remote: RemoteSessionService;
    before(async () => {
      server = await startApiServer((await newDatabase()).python);
      remote = new RemoteSessionService({ url: server.url });
    });
    after(async () => {
      await remote.close();
      await server.end();
    });

    const context = {
      get url() {
        return server.url;
      },
      get remote() {
        return remote;
      },
    };
    describe('a call', () => remoteCalls(context));
    describe('a run', () => remoteRuns(context));
    describe('a cache', () => remoteCopies(context));
  });
}
