// Databases in Deno and Bun: SQLite by the `node:sqlite` that they have built in, servers by the drivers of npm.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { NUL_REFUSALS } from '../../js/stores/database/cases/refusals.js';
import { emptied, type ServerName, SERVERS } from '../../js/stores/database/servers.js';
import { newSqliteServiceFile } from '../../js/stores/database/tables/sqlite_service_tables.js';
import { runInBun, runInDeno } from '../host_tools.js';
import { install, linkPackage, NAME, write } from '../installed.js';
import { newFolder } from '../../new_folder.js';

const packages = ['kysely', 'pg', 'mysql2'];

before(() => {
  packages.forEach(linkPackage);
  // Deno requires node_modules to match the manifest, and may not download packages.
  const dependencies = Object.fromEntries([NAME, ...packages].map((name) => [name, '*']));
  const manifest = { name: 'consumer', type: 'module', dependencies };
  writeFileSync(join(install().project, 'package.json'), JSON.stringify(manifest));
});

interface Runtime {
  readonly name: string;
  readonly run: (folder: string) => string;
  /** Called before the tests. */
  readonly prepare?: () => void;
}

const RUNTIMES: readonly Runtime[] = [
  {
    name: 'Deno',
    run: (folder) => runInDeno(folder, 'main.mjs', ['read', 'write', 'env', 'net', 'sys']),
  },
  // Bun cannot use better-sqlite3, which many projects have.
  {
    name: 'Bun',
    run: (folder) => runInBun(folder, 'main.mjs'),
    prepare: () => linkPackage('better-sqlite3'),
  },
];

/** A program that stores a session at a URL, closes the service, and reads the session with a new one. */
const program = (url: string) => `
  import { createEvent } from 'adk-session-wasm';
  import { DatabaseSessionService } from 'adk-session-wasm/database';

  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
  const first = new DatabaseSessionService('${url}');
  const state = { 'user:name': 'Ada', 'app:rule': 'smile' };
  const session = await first.createSession({ ...key, state });
  const event = createEvent({ author: 'user', content: { parts: [{ text: 'grüß 👋' }] } });
  event.actions.stateDelta = { topic: 'tea' };
  await first.appendEvent({ session, event });
  await first.close();

  const second = new DatabaseSessionService('${url}');
  const read = await second.getSession(key);
  const texts = read.events.map(({ content }) => content.parts[0].text);
  const same = read.lastUpdateTime === session.lastUpdateTime;
  await second.deleteSession(key);
  const { sessions } = await second.listSessions(key);
  await second.close();
  console.log(JSON.stringify({ texts, state: read.state, same, left: sessions.length }));`;

const kept = {
  texts: ['grüß 👋'],
  state: { 'user:name': 'Ada', 'app:rule': 'smile', topic: 'tea' },
  same: true,
  left: 0,
};

/** The cases with NUL in an id. */
const OF_NUL = NUL_REFUSALS.flatMap(([, ...names]) => names);

for (const { name, run, prepare } of RUNTIMES) {
  describe(name, () => {
    before(() => prepare?.());

    /** Runs a program, and parses its output as JSON. */
    const printed = (folder: string, main: string): unknown =>
      JSON.parse(run(write(`${name.toLowerCase()}_${folder}`, { 'main.mjs': main })));

    /** Runs the conformance suite. @returns the failures that are no refusal of NUL, and the names of the others */
    function suite(folder: string, imports: string, database: string) {
      const failed = printed(
        folder,
        `
        import { DatabaseSessionService } from 'adk-session-wasm/database';
        import { conformance } from 'adk-session-wasm/testing';
        ${imports}

        const failed = [];
        const cases = conformance((options) => new DatabaseSessionService({ ...options, ${database} }));
        for (const { name, run } of cases) {
          await run().catch(({ message }) => failed.push([name, message]));
        }
        if (cases.length < 100) failed.push(['the suite', 'has only ' + cases.length + ' cases']);
        console.log(JSON.stringify(failed));`,
      ) as [string, string][];
      const refused = 'createSession ended with invalid_argument';
      const isRefusal = ([, message]: [string, string]) => message.includes(refused);
      return {
        others: failed.filter((each) => !isRefusal(each)),
        refusals: failed.filter(isRefusal).map(([name]) => name),
      };
    }

    it('passes the conformance suite over node:sqlite, except for NUL in an id', () => {
      const outcome = suite('sqlite', '', "url: 'sqlite::memory:'");
      assert.deepEqual(outcome, { others: [], refusals: OF_NUL });
    });

    it('passes the conformance suite over a handle of node:sqlite, in Deno except for NUL in an id', () => {
      const imports = "import { DatabaseSync } from 'node:sqlite';";
      const outcome = suite('handle', imports, "sqlite: new DatabaseSync(':memory:')");
      // Bun reads NUL back.
      assert.deepEqual(outcome, { others: [], refusals: name === 'Bun' ? [] : OF_NUL });
    });

    it('passes the conformance suite over a handle of bun:sqlite', { skip: name !== 'Bun' }, () => {
      const imports = "import { Database } from 'bun:sqlite';";
      const outcome = suite('bun_handle', imports, "sqlite: new Database(':memory:')");
      assert.deepEqual(outcome, { others: [], refusals: [] });
    });

    it('stores sessions in a SQLite file', () => {
      assert.deepEqual(printed('file', program('sqlite:sessions.db')), kept);
    });

    it('appends to the current data after another connection has written', () => {
      const main = `
        import { createEvent } from 'adk-session-wasm';
        import { DatabaseSessionService } from 'adk-session-wasm/database';

        let now = Date.now();
        const open = () => new DatabaseSessionService('sqlite:two.db', { clock: () => now });
        const [one, other] = [open(), open()];
        const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
        const first = await one.createSession(key);
        const append = (service, session, stateDelta) => {
          const event = createEvent({ author: 'user', timestamp: (now += 1) });
          event.actions.stateDelta = stateDelta;
          return service.appendEvent({ session, event });
        };
        await append(one, first, { a: 1, 'app:a': 1 });
        await append(other, await other.getSession(key), { b: 2, 'app:b': 2 });
        await append(one, first, { c: 3, 'app:c': 3 });
        const { state, events } = await one.getSession(key);
        await Promise.all([one.close(), other.close()]);
        console.log(JSON.stringify({ state, events: events.length, told: first.events.length }));`;
      const state = { a: 1, b: 2, c: 3, 'app:a': 1, 'app:b': 2, 'app:c': 3 };
      assert.deepEqual(printed('two', main), { state, events: 3, told: 3 });
    });

    it("stores sessions in a file of google-adk's SqliteSessionService", () => {
      const folder = newFolder();
      const url = newSqliteServiceFile(join(folder, 'sessions.db'));
      assert.deepEqual(printed('service_file', program(url)), kept);
    });

    for (const kind of Object.keys(SERVERS) as ServerName[]) {
      it(`stores sessions on ${kind}`, async () => {
        const server = await SERVERS[kind].start();
        try {
          assert.deepEqual(printed(kind, program(await emptied(kind, server))), kept);
        } finally {
          await server.remove();
        }
      });
    }
  });
}
