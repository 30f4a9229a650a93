import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/database/index.js';
import {
  importSession,
  importSessions,
  type ImportProgress,
  sessionFromFile,
  type SessionFile,
} from '../../../js/files/index.js';
import type { StoredSessionService, StateShape } from '../../../js/index.js';
import { root } from '../../toolchain/environment.mjs';
import { failure, KEY, overStorages, stored, USER } from '../service/fixture.js';

const COUNT = 1203;
const BEGAN = 1.7e12;

/** A file of {@link KEY}; each event counts, for the session and for the user. */
function fileOf(members: SessionFile = {}): SessionFile {
  const events = Array.from({ length: COUNT }, (_, at) => ({
    id: `e${at}`,
    invocationId: 'i',
    author: 'user',
    timestamp: BEGAN + at,
    actions: { stateDelta: { at, 'user:at': at } },
  }));
  const state = { first: 'yes', at: COUNT - 1, 'user:at': COUNT - 1 };
  return { id: KEY.sessionId, ...USER, state, events, ...members };
}

/** The stored data of an import whose process ended after this number of events. */
async function leaveHalf(
  service: StoredSessionService,
  count: number,
  lastUpdateTime = BEGAN + COUNT - 1,
): Promise<void> {
  const session = await service.createSession({ ...KEY, state: { first: 'yes' }, lastUpdateTime });
  const { events } = sessionFromFile(fileOf());
  await service.appendEvents({ session, events: events.slice(0, count) });
}

async function assertWhole(service: StoredSessionService): Promise<void> {
  const { events, state, lastUpdateTime } = await stored(service);
  assert.deepEqual(
    events.map(({ id }) => id),
    Array.from({ length: COUNT }, (_, at) => `e${at}`),
  );
  assert.deepEqual(state, { first: 'yes', at: COUNT - 1, 'user:at': COUNT - 1 });
  assert.equal(lastUpdateTime, BEGAN + COUNT - 1);
}

overStorages('An import that another one left half done', (open) => {
  for (const count of [0, 1, 500, 1000, COUNT - 1]) {
    it(`appends the remaining events, after ${count}`, async () => {
      const service = await open();
      await leaveHalf(service, count);
      const told: ImportProgress[] = [];
      const onProgress = (progress: ImportProgress): void => void told.push(progress);
      const session = await importSession(service, fileOf(), { onProgress });
      await assertWhole(service);
      assert.deepEqual(session, await stored(service));
      assert.ok(told[0]!.stored > count);
      assert.equal(told.at(-1)!.stored, COUNT);
    });
  }

  it('does not change a complete session, nor one that only resembles its first half', async () => {
    const halves: ((service: StoredSessionService) => Promise<unknown>)[] = [
      (service) => importSession(service, fileOf()),
      // A session in use, which a backup holds a later state of.
      (service) => leaveHalf(service, 500, BEGAN + 499),
      (service) => importSession(service, fileOf({ events: [], lastUpdateTime: BEGAN })),
    ];
    for (const leave of halves) {
      const service = await open();
      await leave(service);
      const before = await stored(service);
      await failure(importSession(service, fileOf()), 'already_exists');
      assert.deepEqual(await stored(service), before);
    }
  });

  it('does not change a session with other events', async () => {
    const service = await open();
    await leaveHalf(service, 500);
    const file = fileOf();
    (file.events as { id: string }[])[3]!.id = 'another';
    await failure(importSession(service, file), 'already_exists');
    assert.equal((await stored(service)).events.length, 500);
  });

  it('keeps the previous values of shared keys', async () => {
    const service = await open();
    const stateDelta: StateShape = { 'user:at': 'mine', 'user:name': 'Ada' };
    await leaveHalf(service, 500);
    await service.updateState({ ...USER, stateDelta });
    await importSession(service, fileOf());
    assert.deepEqual(await service.getUserState(USER), { at: 'mine', name: 'Ada' });
  });

  it('keeps the events stored so far if it fails', async () => {
    const service = await open();
    await leaveHalf(service, 500);
    const onProgress = (): never => {
      throw new Error('no');
    };
    await failure(importSession(service, fileOf(), { onProgress }), 'invalid_argument');
    assert.equal((await stored(service)).events.length, 1000);
    await importSession(service, fileOf());
    await assertWhole(service);
  });

  it('continues for a line of a stream', async () => {
    const service = await open();
    await leaveHalf(service, 500);
    for await (const { error } of importSessions(service, `${JSON.stringify(fileOf())}\n`)) {
      assert.equal(error, undefined);
    }
    await assertWhole(service);
  });
});

describe('An import into a SQLite file', () => {
  it('is completed by the next one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'interrupted-'));
    try {
      const url = `sqlite:///${join(folder, 'sessions.db')}`;
      const killed = spawnSync(process.execPath, ['--input-type=module', '-e', KILLED, url], {
        cwd: root,
        input: JSON.stringify(fileOf()),
      });
      assert.equal(killed.signal, 'SIGKILL', String(killed.stderr));
      const service = new DatabaseSessionService(url);
      assert.equal((await stored(service)).events.length, 500);
      await importSession(service, fileOf());
      await assertWhole(service);
      await service.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** Imports what it is given, and is gone after the first batch. */
const KILLED = `
  import { text } from 'node:stream/consumers';
  import { DatabaseSessionService } from 'adk-session-wasm/database';
  import { importSession } from 'adk-session-wasm/files';
  const service = new DatabaseSessionService(process.argv[1]);
  const onProgress = () => process.kill(process.pid, 'SIGKILL');
  await importSession(service, await text(process.stdin), { onProgress });`;
