// `./database` and the command in a project without Kysely, an optional peer.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { install, run, write } from '../installed.js';

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

it('the command copies files without Kysely', () => {
  const session = {
    id: 's1',
    appName: 'shop',
    userId: 'ada',
    state: {},
    events: [],
    lastUpdateTime: 0,
  };
  const folder = write('no-kysely-command', { 's1.json': JSON.stringify(session) });
  const command = (...args: string[]) => {
    const program = join(install().folder, 'js/dist/command/index.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const copied = command('copy', 's1.json', 's1.jsonl');
  assert.deepEqual([copied.status, copied.stderr], [0, '']);
  assert.match(copied.stdout, /TO +1 +0\n/);
  for (const args of [
    ['copy', 's1.json', 'sqlite:s1.db'],
    ['copy', 'sqlite:s1.db', 's2.jsonl'],
    ['schema', 'sqlite'],
  ]) {
    const { status, stderr } = command(...args);
    assert.equal(status, 1);
    assert.match(stderr, /npm install kysely \(storage_unavailable\)\n$/);
  }
});
