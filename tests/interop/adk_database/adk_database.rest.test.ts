// Databases of @google/adk's own DatabaseSessionService: recognised, left as they are, and copied.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { command, hashOf } from '../../js/command/stores.js';
import { emptied } from '../../js/stores/database/servers.js';
import { loadPeer } from './peer.js';
import { bothServers } from '../../js/stores/database/both_servers.js';
import { newFolder } from '../../new_folder.js';

const KEY = { appName: 'app', userId: 'ada', sessionId: 's1' };
const TIMEOUT = { timeout: 300_000 };

const folder = newFolder();
const servers = bothServers();
let theirPackage: Awaited<ReturnType<typeof loadPeer>>;
before(async () => {
  theirPackage = await loadPeer();
});

const file = join(folder, 'adk.db');
const cases: [engine: string, urls: () => Promise<{ theirs: string; ours: string }>][] = [
  ['SQLite', () => Promise.resolve({ theirs: `sqlite://${file}`, ours: `sqlite:${file}` })],
  [
    'PostgreSQL',
    async () => {
      const url = await emptied('postgresql', servers.postgres);
      return { theirs: url, ours: url };
    },
  ],
  [
    'MariaDB',
    async () => {
      const url = await emptied('mariadb', servers.mariadb);
      return { theirs: url, ours: url };
    },
  ],
];

/** The JSON of events, in the order of their ids. */
function byId(events: readonly { id: string }[] = []): unknown[] {
  const sorted = [...events].sort((one, other) => (one.id < other.id ? -1 : 1));
  return JSON.parse(JSON.stringify(sorted)) as unknown[];
}

describe("Tables of @google/adk's own service", TIMEOUT, () => {
  for (const [engine, urls] of cases) {
    it(`are refused by name and not changed, and copy copies them: ${engine}`, async () => {
      const { DatabaseSessionService: Theirs, createEvent } = theirPackage;
      const { theirs, ours } = await urls();
      const peer = new Theirs(theirs);
      const state = { topic: 'tea', 'user:name': 'Ada', 'app:rule': { a: [1, null] } };
      const session = await peer.createSession({ ...KEY, state });
      const now = Date.now();
      for (let n = 0; n < 6; n += 1) {
        const event = createEvent({
          author: 'model',
          invocationId: 'i',
          // Three events of one millisecond, like a call, its response and the answer.
          timestamp: now + Math.floor(n / 3),
          content: {
            role: 'model',
            parts: [{ functionCall: { name: 'f', args: { someKey: n } } }],
          },
          longRunningToolIds: ['a'],
          actions: {
            stateDelta: { n, 'user:n': n, fooBar: { aB: n } },
            artifactDelta: {},
            requestedAuthConfigs: {},
            requestedToolConfirmations: {},
          },
        });
        await peer.appendEvent({ session, event });
      }
      const stored = await peer.getSession(KEY);
      await peer.orm?.close();
      const hash = engine === 'SQLite' ? hashOf(file) : '';
      const service = new DatabaseSessionService(ours);
      const refusal = { code: 'storage_unavailable', message: /@google\/adk.*copy/ };
      await assert.rejects(service.ping(), refusal);
      await assert.rejects(service.getSession(KEY), refusal);
      await service.close();
      if (engine === 'SQLite') assert.equal(hashOf(file), hash);

      const copy = `sqlite:${join(folder, `${engine}.db`)}`;
      const { code, out, err } = await command('copy', ours, copy);
      assert.equal(code, 0, err);
      assert.match(out, /TO +1 +6/);
      if (engine === 'SQLite') assert.equal(hashOf(file), hash);
      const copied = new DatabaseSessionService(copy);
      const copiedSession = await copied.getSession(KEY);
      const numbers = copiedSession?.events.map(({ actions }) => actions.stateDelta.n) ?? [];
      // MariaDB does not store the order of events within one millisecond.
      const seen = engine === 'MariaDB' ? numbers.map((n) => Number(n) > 2) : numbers;
      const came = [0, 1, 2, 3, 4, 5];
      assert.deepEqual(seen, engine === 'MariaDB' ? came.map((n) => n > 2) : came);
      assert.deepEqual(copiedSession?.state, stored?.state);
      // Their service gives events of one millisecond in any order.
      assert.deepEqual(byId(copiedSession?.events), byId(stored?.events));
      // MariaDB stores only the second. A session is not older than its events.
      const times = stored?.events.map(({ timestamp }) => timestamp) ?? [];
      const lastUpdateTime = Math.max(stored?.lastUpdateTime ?? 0, ...times);
      assert.equal(copiedSession?.lastUpdateTime, lastUpdateTime);
      await copied.close();
    });
  }
});

it('users whose ids differ only in case are refused if the columns of @google/adk confuse them', async () => {
  const { DatabaseSessionService: Theirs } = theirPackage;
  const url = await emptied('mariadb', servers.mariadb);
  const peer = new Theirs(url);
  await peer.createSession({ ...KEY, userId: 'ada', sessionId: 's1' });
  await peer.createSession({ ...KEY, userId: 'ADA', sessionId: 's2' });
  await peer.orm?.close();
  const { code, err } = await command('copy', url, `sqlite:${join(folder, 'mixed_users.db')}`);
  assert.equal(code, 1);
  assert.match(err, /values of user_id that differ only/);
});

it("a row that @google/adk's service wrote into Python's tables is reported as damaged", async () => {
  const path = join(folder, 'mixed.db');
  const service = new DatabaseSessionService(`sqlite:${path}`);
  await service.createSession(KEY);
  await service.close();
  const database = new Sqlite(path);
  database.prepare('update sessions set update_time = ?').run(Date.now());
  database.close();
  const again = new DatabaseSessionService(`sqlite:${path}`);
  await assert.rejects(again.getSession(KEY), { code: 'corrupt_record' });
  await again.close();
});
