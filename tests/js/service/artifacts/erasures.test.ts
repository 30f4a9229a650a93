// Erasures that fail, that a program leaves, and that are finished late, over a home with notes as in IndexedDB.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { coreOf } from '../../../../js/core/core_of.js';
import { InMemorySessionService } from '../../../../js/index.js';
import { Artifacts } from '../../../../js/service/artifacts/artifacts.js';
import type { ServiceCore } from '../../../../js/service/service_core.js';
import type { ErasedOwner } from '../../../../js/stores/artifacts/artifact_home.js';
import { FILE_STORES, LocalHome } from '../../../../js/stores/artifacts/local_home.js';
import { MemoryLocalStore } from '../../../../js/stores/cache/local_store/memory_local_store.js';

const user = { appName: 'shop', userId: 'ada' };
const key = { ...user, sessionId: 's1' };
const lost = new Error('the answer was lost');

/** A home whose erasures fail, as often as it is said. */
class FailingHome extends LocalHome {
  failures = 0;

  override erase(owner: ErasedOwner): Promise<void> {
    if (this.failures === 0) return super.erase(owner);
    this.failures -= 1;
    return Promise.reject(new Error('the erasure failed'));
  }
}

/** Sessions in memory, with files that outlive the program if they are in a database. */
function open(database?: string, local = new MemoryLocalStore(FILE_STORES)) {
  const service = new InMemorySessionService();
  const core = coreOf<ServiceCore>(service as never);
  const home = new FailingHome(local, database);
  const start = () => new Artifacts(home, core);
  const artifacts = start();
  const put = (filename: string) =>
    artifacts.put({ ...key, filename, data: new Uint8Array(3) }, {});
  const deleteSession = (work = () => service.deleteSession(key)) =>
    artifacts.during({ kind: 'delete', what: 'session', key }, {}, work);
  const notes = async () => (await home.notes!.abandoned()).length;
  return { service, artifacts, start, home, put, deleteSession, notes };
}

describe('An erasure that fails', () => {
  it('is finished by the next call, before a later session with the id shows files', async () => {
    const { service, artifacts, home, put, deleteSession, notes } = open('files');
    await service.createSession(key);
    await put('a');
    home.failures = 2;
    await assert.rejects(deleteSession(), /the erasure failed/);
    await service.createSession(key);
    assert.deepEqual(await artifacts.listArtifactKeys(key, {}), []);
    assert.equal(await notes(), 0);
  });

  it('is done by a repetition of the deletion, over a home without notes', async () => {
    const { service, artifacts, home, put, deleteSession } = open();
    await service.createSession(key);
    await put('a');
    home.failures = 2;
    await assert.rejects(deleteSession(), /the erasure failed/);
    await deleteSession();
    await service.createSession(key);
    assert.deepEqual(await artifacts.listArtifactKeys(key, {}), []);
  });
});

describe('A note that is finished late', () => {
  /** Leaves the note of a deletion, as a program does that ends before it erases. */
  async function leave(kept: ReturnType<typeof open>, what: 'session' | 'user'): Promise<void> {
    const { service, artifacts, home } = kept;
    home.failures = 2;
    const work = () => (what === 'user' ? service.deleteUser(user) : service.deleteSession(key));
    const write = { kind: 'delete', what, key: what === 'user' ? user : key } as never;
    await assert.rejects(artifacts.during(write, {}, work), /the erasure failed/);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it('of a user spares the files that were stored later, also imported ones', async () => {
    const kept = open('files');
    const { service, home, start, put } = kept;
    await service.createSession(key);
    await put('a');
    await put('user:b');
    await leave(kept, 'user');
    // Another program stores these before it is finished.
    const [data, facts] = [new Blob(['later']), {}];
    await home.put({ owner: key, name: 'c' }, { data, facts, createTime: 1, created: 99 });
    await home.put(
      { owner: { ...user, sessionId: undefined }, name: 'd' },
      { data, facts, createTime: 1 },
    );
    assert.deepEqual(await start().listArtifactKeys(key, {}), ['c', 'user:d']);
  });

  it('of a session spares the files of a fork with its id', async () => {
    const kept = open('files');
    const { service, home, start, put } = kept;
    await service.createSession(key);
    await put('a');
    await leave(kept, 'session');
    const from = { ...key, sessionId: 's2' };
    const file = { data: new Blob(['later']), facts: {}, createTime: 1, created: 99 };
    await home.put({ owner: from, name: 'b' }, file);
    await home.copy(from, key);
    assert.deepEqual(await start().listArtifactKeys(key, {}), ['b']);
  });
});

describe('A deletion that deletes nothing, because the session has changed', () => {
  it('keeps the files', async () => {
    for (const database of [undefined, 'files']) {
      const { service, artifacts, put } = open(database);
      await service.createSession(key);
      await put('a');
      const write = { kind: 'delete', what: 'session', key } as const;
      await artifacts.during(write, {}, () => Promise.resolve({ isDeleted: false }));
      assert.deepEqual(await artifacts.listArtifactKeys(key, {}), ['a']);
    }
  });
});

describe('A deletion that rejects', () => {
  for (const database of [undefined, 'files']) {
    const where = database === undefined ? 'without notes' : 'with notes';

    it(`erases files if the session is gone, over a home ${where}`, async () => {
      const { service, artifacts, put, deleteSession } = open(database);
      await service.createSession(key);
      await put('a');
      const work = async () => {
        await service.deleteSession(key);
        throw lost;
      };
      await assert.rejects(deleteSession(work), lost);
      await service.createSession(key);
      assert.deepEqual(await artifacts.listArtifactKeys(key, {}), []);
    });

    it(`keeps files if the session is there, over a home ${where}`, async () => {
      const { service, artifacts, put, deleteSession } = open(database);
      await service.createSession(key);
      await put('a');
      await assert.rejects(
        deleteSession(() => Promise.reject(lost)),
        lost,
      );
      assert.deepEqual(await artifacts.listArtifactKeys(key, {}), ['a']);
    });
  }

  for (const database of [undefined, 'files']) {
    const where = database === undefined ? 'without notes' : 'with notes';

    it(`keeps files of a user without sessions, over a home ${where}`, async () => {
      const { service, artifacts, put, deleteSession } = open(database);
      await service.createSession(key);
      await put('user:a');
      await deleteSession();
      const write = { kind: 'delete', what: 'user', key: user } as never;
      await assert.rejects(
        artifacts.during(write, {}, () => Promise.reject(lost)),
        lost,
      );
      assert.deepEqual(await artifacts.listArtifactKeys(key, {}), ['user:a']);
    });
  }

  it('does not end the fork that is under way', async () => {
    const { service, artifacts, put, deleteSession } = open('files');
    await service.createSession(key);
    await put('a');
    const to = { ...key, sessionId: 's2' };
    const fork = { kind: 'fork', key, newSessionId: 's2' } as never;
    await artifacts.during(fork, {}, async () => {
      await assert.rejects(
        deleteSession(() => Promise.reject(lost)),
        lost,
      );
      // This call finishes what the deletion has left.
      await artifacts.listArtifactKeys(key, {});
      await service.createSession(to);
    });
    assert.deepEqual(await artifacts.listArtifactKeys(to, {}), ['a']);
  });
});
