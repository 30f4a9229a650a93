// Python and we write at the same moment. Its DatabaseSessionService reads and writes SQLite's rows without a lock.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { KEY, PYTHON_KEY, pythonEvent, userEvent, firstText } from '../shared_session.js';
import { postgres, sqliteServiceFiles } from './shared_databases.js';

const ROUNDS = 40;
const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
const both = [0, 1] as const;

const engines = [
  ['PostgreSQL', postgres],
  ["a file of Python's SqliteSessionService", sqliteServiceFiles],
] as const;

for (const [title, start] of engines) {
  describe(`Concurrent writes on ${title}`, { timeout: 120_000 }, () => {
    const newDatabase = start();
    let services: DatabaseSessionService[];
    let programs: PythonSessions[];

    before(async () => {
      const urls = await newDatabase();
      services = both.map(() => new DatabaseSessionService(urls.ours));
      programs = both.map(() => startPythonSessions());
      await services[0]?.ping();
      for (const program of programs) await program.open(urls.python);
    });
    after(async () => {
      for (const service of services) await service.close();
      for (const program of programs) await program.end();
    });

    it('of four programs to keys of one app and one user are all kept', async () => {
      const keysOf = (who: string, round: number) => {
        return { [`app:${who}-${round}`]: round, [`user:${who}-${round}`]: round };
      };
      const ours = await Promise.all(
        services.map((service, who) => service.createSession({ ...KEY, sessionId: `ours-${who}` })),
      );
      for (const [who, program] of programs.entries()) {
        await program.ask('create', { ...PYTHON_KEY, session_id: `theirs-${who}` });
      }
      const writing = programs.map((program, who) => {
        const events = rounds.map((round) =>
          pythonEvent(`${round}`, keysOf(`theirs${who}`, round)),
        );
        return program.ask('append all', events);
      });
      const written = services.map(async (service, who) => {
        const session = ours[who];
        assert.ok(session);
        for (const round of rounds) {
          await service.appendEvent({ session, event: userEvent('', keysOf(`ours${who}`, round)) });
        }
      });
      // Without a session, in the order of locks that this has.
      const changed = rounds.map((round) => {
        const stateDelta = { [`user:alone-${round}`]: round, [`app:alone-${round}`]: round };
        const { appName, userId } = KEY;
        return services[round % 2]?.updateState({ appName, userId, stateDelta });
      });
      for (const { error, events } of await Promise.all(writing)) {
        assert.equal(error, undefined);
        assert.equal(events.length, ROUNDS);
      }
      await Promise.all([...written, ...changed]);

      const [service] = services;
      const app = await service?.getAppState(KEY);
      const user = await service?.getUserState(KEY);
      const everybody = ['ours0', 'ours1', 'theirs0', 'theirs1', 'alone'];
      const expected = everybody.flatMap((who) => rounds.map((round) => `${who}-${round}`)).sort();
      assert.deepEqual(Object.keys(app ?? {}).sort(), expected);
      assert.deepEqual(Object.keys(user ?? {}).sort(), expected);
    });

    // SqliteSessionService checks for a stale session before it locks it, so another write may come in between.
    if (start !== postgres) return;

    it('of Python and the package to one session store each event once, and the handle gets all', async () => {
      const [service] = services;
      const [program] = programs;
      assert.ok(service && program);
      // A separate app, without keys of other tests.
      const key = { ...KEY, appName: 'tea' };
      const pythonKey = { ...PYTHON_KEY, app_name: 'tea' };
      const session = await service.createSession(key);
      const ours = (async () => {
        for (const round of rounds) {
          await service.appendEvent({
            session,
            event: userEvent(`ours ${round}`, { [`o${round}`]: 1 }),
          });
        }
      })();
      for (const round of rounds) {
        const event = pythonEvent(`theirs ${round}`, { [`t${round}`]: 1 });
        // Python does not merge: it reads again and tries again.
        for (let error: string | undefined = 'StaleSessionError'; error !== undefined;) {
          assert.equal(error, 'StaleSessionError');
          await program.ask('get', pythonKey);
          ({ error } = await program.ask('append', event));
        }
      }
      await ours;
      await service.appendEvent({ session, event: userEvent('last') });

      const stored = await service.getSession(key);
      const said = stored?.events.map((event) => String(firstText(event))) ?? [];
      const from = (who: string) => said.filter((text) => text.startsWith(who));
      assert.deepEqual(
        from('ours '),
        rounds.map((round) => `ours ${round}`),
      );
      assert.deepEqual(
        from('theirs '),
        rounds.map((round) => `theirs ${round}`),
      );
      assert.equal(said.length, 2 * ROUNDS + 1);
      assert.equal(Object.keys(stored?.state ?? {}).length, 2 * ROUNDS);
      assert.deepEqual(session.events, stored?.events);
      assert.deepEqual(session.state, stored?.state);
      const inPython = await program.ask('get', pythonKey);
      assert.deepEqual(inPython.events.map(firstText), said);
    });
  });
}
