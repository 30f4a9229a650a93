import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import SqliteDatabase from 'better-sqlite3';
import { schemaSql } from '../../../../js/command/schema_sql.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { bytesOf, FILE_BEHAVIOURS } from '../../service/artifacts/behaviours.js';
import { newFolder } from '../../../new_folder.js';
import { failsWith } from '../../fails_with.js';

const user = { appName: 'shop', userId: 'ada' };
const key = { ...user, sessionId: 's1' };
const filename = 'a.bin';
const MIB = 2 ** 20;

/** A new file, with a service over it and a connection beside. */
function newDatabase(options: { clock?: () => number; createTables?: boolean } = {}) {
  const file = join(newFolder(), 'sessions.db');
  const beside = new SqliteDatabase(file);
  const service = new DatabaseSessionService(`sqlite:${file}`, { artifacts: true, ...options });
  const count = (table: 'files' | 'file_chunks'): number =>
    (
      beside.prepare(`select count(*) as rows from adk_session_wasm_${table}`).get() as {
        rows: number;
      }
    ).rows;
  return { beside, service, rows: () => [count('files'), count('file_chunks')] };
}

describe('Files in SQLite', () => {
  for (const [title, run] of FILE_BEHAVIOURS) {
    it(title, () => run(new DatabaseSessionService('sqlite::memory:', { artifacts: true })));
  }

  it('are deleted by a program that deletes the session by SQL, but for those of the user', async () => {
    const { beside, service, rows } = newDatabase();
    await service.createSession(key);
    await service.artifacts.put({ ...key, filename, data: bytesOf(2 * MIB + 1) });
    await service.artifacts.put({ ...key, filename: 'user:b', data: bytesOf(1) });
    assert.deepEqual(rows(), [2, 4]);
    beside.pragma('foreign_keys = on');
    beside.exec("delete from sessions where id = 's1'");
    assert.deepEqual(rows(), [1, 1]);
    await service.deleteUser(user);
    assert.deepEqual(rows(), [0, 0]);
    await service.close();
  });

  it('that a program without foreign keys has left go when the session is created again', async () => {
    const { beside, service, rows } = newDatabase();
    await service.createSession(key);
    await service.artifacts.put({ ...key, filename, data: bytesOf(9) });
    beside.pragma('foreign_keys = off');
    beside.exec("delete from sessions where id = 's1'");
    assert.deepEqual(rows(), [1, 1]);
    await service.createSession(key);
    assert.deepEqual(rows(), [0, 0]);
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
    await service.close();
  });

  it('with the same bytes in one session share their chunks until the last of them is deleted', async () => {
    const { service, rows } = newDatabase();
    await service.createSession(key);
    for (const filename of ['a', 'a', 'b']) {
      await service.artifacts.put({ ...key, filename, data: bytesOf(MIB + 1) });
    }
    assert.deepEqual(rows(), [3, 2]);
    await service.artifacts.deleteArtifact({ ...key, filename: 'a' });
    assert.equal((await service.artifacts.open({ ...key, filename: 'b' }))?.size, MIB + 1);
    await service.artifacts.deleteArtifact({ ...key, filename: 'b' });
    // The numbers of the deleted files are kept.
    assert.deepEqual(rows(), [2, 0]);
    await service.close();
  });

  it('whose bytes change between the two readings of a put are refused, and never shared', async () => {
    const { service } = newDatabase();
    await service.createSession(key);
    const [before, after] = [bytesOf(MIB + 1), bytesOf(MIB + 1)];
    after[MIB] = before[MIB]! ^ 1;
    const changing = new File([before], 'tea.bin');
    let slices = 0;
    changing.slice = (start, end) => {
      slices += 1;
      return new Blob([slices <= 2 ? before : after]).slice(start, end);
    };
    const put = service.artifacts.put({ ...key, filename, data: changing });
    await assert.rejects(put, failsWith('invalid_argument', /"tea\.bin" .*other bytes/));
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
    await service.artifacts.put({ ...key, filename, data: new Blob([before]) });
    const blob = await service.artifacts.open({ ...key, filename });
    assert.deepEqual(new Uint8Array(await blob!.arrayBuffer()), before);
    await service.close();
  });

  it('that were not stored whole leave chunks, which a put after a day deletes', async () => {
    let now = Date.now();
    const { service, rows } = newDatabase({ clock: () => now });
    await service.createSession(key);
    async function* broken() {
      yield bytesOf(2 * MIB);
      await Promise.resolve();
      throw new Error('it broke off');
    }
    await assert.rejects(service.artifacts.put({ ...key, filename, data: broken() }), /broke off/);
    await service.artifacts.put({ ...key, filename, data: bytesOf(1) });
    assert.deepEqual(rows(), [1, 3]);
    now += 25 * 60 * 60 * 1000;
    await service.artifacts.put({ ...key, filename, data: bytesOf(2) });
    assert.deepEqual(rows(), [2, 2]);
    await service.close();
  });

  for (const [title, sql, error] of [
    [
      'of the user',
      'delete from adk_session_wasm_file_chunks',
      { code: 'storage_failed', message: /more than a day/ },
    ],
    [
      'of a session that was deleted and created again meanwhile',
      "update sessions set create_time = '2020-01-01 00:00:00'; delete from adk_session_wasm_file_chunks",
      { code: 'not_found' },
    ],
  ] as const) {
    it(`a stream whose chunks are deleted before its end stores nothing: that ${title}`, async () => {
      const { beside, service } = newDatabase();
      await service.createSession(key);
      const name = title === 'of the user' ? 'user:a' : filename;
      async function* parts() {
        yield bytesOf(2 * MIB);
        await Promise.resolve();
        beside.exec(sql);
      }
      const put = service.artifacts.put({ ...key, filename: name, data: parts() });
      await assert.rejects(put, error);
      assert.deepEqual(await service.artifacts.listVersions({ ...key, filename: name }), []);
      await service.close();
    });
  }

  it('that alone were used do not keep the database open when the service is closed', async () => {
    const { beside, service } = newDatabase();
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
    await service.close();
    // SQLite refuses to leave this mode while another connection is open.
    beside.pragma('busy_timeout = 0');
    assert.deepEqual(beside.pragma('journal_mode = delete'), [{ journal_mode: 'delete' }]);
  });

  it('work in tables that an operator has made of the printed schema', async () => {
    const { beside, service } = newDatabase({ createTables: false });
    beside.exec(schemaSql('sqlite', 'sqlite', { schema: undefined, prefix: '' }));
    await service.createSession(key);
    assert.equal((await service.artifacts.put({ ...key, filename, data: bytesOf(1) })).version, 0);
    await service.close();
  });
});
