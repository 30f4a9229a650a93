// A copy that is killed leaves whole sessions. The same command copies the rest.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { createEvent } from '../../../js/index.js';
import { LOADER } from '../loader.js';
import { command, contentsOf, row } from './stores.js';
import { newFolder } from '../../new_folder.js';

const SESSIONS = 200;
const EVENTS = 20;

const folder = newFolder();
const [from, path] = [`sqlite:${join(folder, 'source.db')}`, join(folder, 'target.db')];
const program = fileURLToPath(import.meta.resolve('../../../js/command/index.js'));

async function makeSource(): Promise<void> {
  const service = new DatabaseSessionService(from, { durability: 'relaxed' });
  for (let n = 0; n < SESSIONS; n += 1) {
    const key = { appName: 'app', userId: `u${n % 7}`, sessionId: `s${n}` };
    const session = await service.createSession({ ...key, state: { n } });
    const events = Array.from({ length: EVENTS }, (_, at) =>
      createEvent({ id: `e${at}`, author: 'agent', invocationId: 'i' }),
    );
    await service.appendEvents({ session, events });
  }
  await service.close();
}

/** The rows of the target at one moment. */
function rows(): { sessions: number; events: number } {
  const none = { sessions: 0, events: 0 };
  if (!existsSync(path)) return none;
  const database = new Sqlite(path, { readonly: true });
  try {
    const count = (table: string) =>
      Number(database.prepare(`select count(*) from ${table}`).pluck().get());
    return database.transaction(() => ({ sessions: count('sessions'), events: count('events') }))();
  } catch {
    return none;
  } finally {
    database.close();
  }
}

it('a killed copy leaves whole sessions, and the same command copies the rest', async () => {
  await makeSource();
  const to = `sqlite:${path}`;
  const child = spawn(process.execPath, [...LOADER, program, 'copy', from, to], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  while (rows().sessions < 20) {
    assert.equal(child.exitCode, null, 'it has ended by itself');
    await pause(2);
  }
  child.kill('SIGKILL');
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  const { sessions, events } = rows();
  assert.ok(sessions < SESSIONS);
  assert.equal(events, sessions * EVENTS);
  const outcome = await command('copy', from, to);
  assert.deepEqual([outcome.code, outcome.err], [0, '']);
  assert.deepEqual(row(outcome, 'TO'), [SESSIONS, SESSIONS * EVENTS]);
  assert.deepEqual(row(outcome, 'new in TO')[0], SESSIONS - sessions);
  assert.deepEqual(await contentsOf(to), await contentsOf(from));
});
