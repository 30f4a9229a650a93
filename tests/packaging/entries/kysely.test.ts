// `./database` in a project without Kysely, an optional peer.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { run, write } from '../installed.js';

it('a SQL database without Kysely fails with the command that installs it', () => {
  const program = `
    import { DatabaseSessionService } from 'adk-session-wasm/database';
    import { getSessionServiceFromUri } from 'adk-session-wasm/uri';
    const services = [new DatabaseSessionService('sqlite::memory:'), getSessionServiceFromUri('sqlite::memory:')];
    for (const service of services) {
      await service.createSession({ appName: 'a', userId: 'u' }).catch(({ code, message }) => console.log(code, message));
    }`;
  const folder = write('no-kysely', { 'main.mjs': program });
  const lines = run(process.execPath, ['main.mjs'], folder).trim().split('\n');
  assert.equal(lines.length, 2);
  for (const line of lines) assert.match(line, /^storage_unavailable .*npm install kysely/);
});
