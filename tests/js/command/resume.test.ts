// A run that is killed leaves complete sessions. The next run copies the rest, once.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../js/database/index.js';
import { createEvent } from '../../../js/index.js';
import { emptied, type Server, startPostgres } from '../database/servers.js';
import { LOADER } from '../loader.js';
import { command, hashOf, newFolder, row } from './stores.js';

const SESSIONS = 300;
const EVENTS = 40;

const folder = newFolder();
const source = join(folder, 'source.db');
const from = `sqlite:${source}`;
let server: Server;

before(async () => {
  server = await startPostgres();
  const service = new DatabaseSessionService(from, { durability: 'relaxed' });
  for (let n = 0; n < SESSIONS; n += 1) {
    const key = { appName: 'app', userId: `u${n % 7}`, sessionId: `s${n}` };
    const session = await service.createSession({ ...key, state: { n } });
    const events = Array.from({ length: EVENTS }, (_, at) => {
      const event = createEvent({ id: `e${at}`, author: 'agent', invocationId: 'i' });
      event.actions.stateDelta = { at, 'user:last': n, text: 'x'.repeat(500) };
      return event;
    });
    await service.appendEvents({ session, events });
  }
  await service.close();
});
after(() => server.remove());

const program = fileURLToPath(import.meta.resolve('../../../js/command/index.js'));

function start(to: string): ChildProcess {
  return spawn(process.execPath, [...LOADER, program, 'migrate', from, to], {
    stdio: 'ignore',
  });
}

/** Kills the run as soon as `isUnderWay`. */
async function killed(to: string, isUnderWay: () => boolean | Promise<boolean>): Promise<void> {
  const child = start(to);
  const ended = once(child, 'exit');
  while (!(await isUnderWay())) {
    assert.equal(child.exitCode, null, 'it has ended by itself');
    await pause(5);
  }
  child.kill('SIGKILL');
  assert.deepEqual(await ended, [null, 'SIGKILL']);
}

/** The output of a run without its progress, which it prints only in long runs. */
const complaints = (err: string) => err.replace(/^ *\d+ %.*\n/gm, '');

/** Checks that each session is complete, once. */
async function isWhole(url: string): Promise<void> {
  const service = new DatabaseSessionService(url);
  const { sessions, totalItems } = await service.listSessions({ appName: 'app' });
  assert.equal(totalItems, SESSIONS);
  for (const { userId, id: sessionId } of sessions.slice(0, 20)) {
    const session = await service.getSession({ appName: 'app', userId, sessionId });
    assert.deepEqual(
      session?.events.map(({ id }) => id),
      Array.from({ length: EVENTS }, (_, at) => `e${at}`),
    );
  }
  await service.close();
}

describe('A killed migration continues at the next run', () => {
  it('in SQLite, where each session is complete or absent, without changes to the source', async () => {
    const path = join(folder, 'target.db');
    const before = hashOf(source);
    const counts = (): { sessions: number; events: number } => {
      if (!existsSync(path)) return { sessions: 0, events: 0 };
      const database = new Sqlite(path, { readonly: true });
      try {
        const count = (table: string) =>
          Number(database.prepare(`select count(*) from ${table}`).pluck().get());
        return database.transaction(() => {
          return { sessions: count('sessions'), events: count('events') };
        })();
      } catch {
        return { sessions: 0, events: 0 };
      } finally {
        database.close();
      }
    };
    await killed(`sqlite:${path}`, () => counts().sessions > 20);
    const { sessions, events } = counts();
    assert.ok(sessions < SESSIONS);
    assert.equal(events, sessions * EVENTS);
    const outcome = await command('migrate', from, `sqlite:${path}`);
    assert.deepEqual([outcome.code, complaints(outcome.err)], [0, '']);
    assert.deepEqual(row(outcome, 'there already'), [sessions, sessions * EVENTS]);
    assert.deepEqual(row(outcome, 'verified'), [SESSIONS, SESSIONS * EVENTS]);
    await isWhole(`sqlite:${path}`);
    assert.equal(hashOf(source), before);
  });

  it('in PostgreSQL', async () => {
    const url = await emptied('postgresql', server);
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const count = async () => {
      const { rows } = await client
        .query<{ n: number }>('select count(*)::int as n from sessions')
        .catch(() => ({ rows: [{ n: 0 }] }));
      return rows[0]?.n ?? 0;
    };
    await killed(url, async () => (await count()) > 20);
    const outcome = await command('migrate', from, url);
    assert.deepEqual([outcome.code, complaints(outcome.err)], [0, '']);
    assert.ok((row(outcome, 'there already')[0] ?? 0) > 20);
    assert.deepEqual(row(outcome, 'verified'), [SESSIONS, SESSIONS * EVENTS]);
    await client.end();
    await isWhole(url);
  });

  it('in a file, whose unfinished last line is cut off', async () => {
    const path = join(folder, 'target.jsonl');
    await killed(path, () => existsSync(path) && statSync(path).size > 500_000);
    // Wherever the kill has hit, this is within a line.
    truncateSync(path, statSync(path).size - 100);
    const outcome = await command('migrate', from, path);
    assert.deepEqual([outcome.code, complaints(outcome.err)], [0, '']);
    assert.ok((row(outcome, 'there already')[0] ?? 0) > 0);
    assert.deepEqual(row(outcome, 'verified'), [SESSIONS, SESSIONS * EVENTS]);
    const ids = readFileSync(path, 'utf8').match(/^\{"id":"s\d+"/gm) ?? [];
    assert.equal(ids.length, SESSIONS);
    assert.equal(new Set(ids).size, SESSIONS);
    const back = await command('migrate', path, `sqlite:${join(folder, 'back.db')}`);
    assert.deepEqual([back.code, row(back, 'verified')], [0, [SESSIONS, SESSIONS * EVENTS]]);
  });

  it('in a file that has only a part of the first line', async () => {
    const path = join(folder, 'begun.jsonl');
    appendFileSync(path, '{"format":"adk-se');
    const outcome = await command('migrate', from, path);
    assert.deepEqual([outcome.code, row(outcome, 'copied')[0]], [0, SESSIONS]);
  });
});
