// Files on PostgreSQL and MariaDB: what they do over every home, and what one transaction does beside another.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { fork } from '../../../../js/core/history/index.js';
import {
  DatabaseSessionService,
  openStorage,
} from '../../../../js/service/database/database_session_service.js';
import { DatabaseHome } from '../../../../js/stores/database/artifacts/database_home.js';
import {
  plainQuery,
  type Query,
  type Steps,
} from '../../../../js/stores/database/engine/prepared.js';
import { bytesOf, FILE_BEHAVIOURS } from '../../service/artifacts/behaviours.js';
import { bothServers } from './both_servers.js';
import { emptied } from './servers.js';

const servers = bothServers();

const user = { appName: 'shop', userId: 'ada' };
const key = { ...user, sessionId: 's1' };

/**
 * A service with a session, and files in the same database whose transactions sleep before they write.
 *
 * @returns `asleep` resolves once the first of them sleeps
 */
async function slowFiles(url: string, sleep: Query) {
  const service = new DatabaseSessionService(url, { artifacts: true });
  await service.createSession(key);
  const storage = await openStorage({ url });
  let tell: () => void;
  const asleep = new Promise<void>((resolve) => (tell = resolve));
  function* slowed<T>(steps: Steps<T>): Steps<T> {
    let step = steps.next();
    while (step.done !== true) {
      if (step.value.isLast) {
        tell();
        yield { queries: [sleep], isLast: false };
      }
      step = steps.next(yield step.value);
    }
    return step.value;
  }
  const slow = new DatabaseHome(
    () =>
      Promise.resolve({
        transact: (mode, steps, call) =>
          storage.transact(mode, (context) => slowed(steps(context)), call),
      }),
    () => 'content',
  );
  const close = () => Promise.all([service.close(), storage.close()]);
  return { service, slow, asleep, close };
}

for (const [name, server, sleepSql] of [
  ['postgresql', 'postgres', 'select pg_sleep(1)'],
  ['mariadb', 'mariadb', 'select sleep(1)'],
] as const) {
  describe(`Files in ${name}`, () => {
    for (const [title, run] of FILE_BEHAVIOURS) {
      it(title, async () => {
        const url = await emptied(name, servers[server]);
        await run(new DatabaseSessionService(url, { artifacts: true }));
      });
    }

    const sleep = plainQuery(sleepSql);
    const file = (size: number) => ({ data: new Blob([bytesOf(size)]), facts: {}, createTime: 0 });

    for (const [prefix, sessionId] of [
      ['', key.sessionId],
      ['user:', undefined],
    ] as const) {
      const owner = { ...user, sessionId };
      const [x, y] = ['x', 'y'].map((name) => ({ ...key, filename: prefix + name }));

      it(`that share bytes keep them if one is deleted while the other is put: ${prefix}y`, async () => {
        const url = await emptied(name, servers[server]);
        const { service, slow, asleep, close } = await slowFiles(url, sleep);
        await service.artifacts.put({ ...x!, data: bytesOf(9) });
        const putting = slow.put({ owner, name: 'y' }, file(9), {});
        await asleep;
        await service.artifacts.deleteArtifact(x!);
        await putting;
        assert.equal((await service.artifacts.open(y!))?.size, 9);
        await close();
      });

      it(`get no number twice if a version is put while its file is deleted: ${prefix}x`, async () => {
        const url = await emptied(name, servers[server]);
        const { service, slow, asleep, close } = await slowFiles(url, sleep);
        const put = async () => (await service.artifacts.put({ ...x!, data: bytesOf(9) })).version;
        assert.equal(await put(), 0);
        const deleting = slow.delete({ owner, name: 'x' }, {});
        await asleep;
        assert.equal(await put(), 1);
        await deleting;
        assert.equal(await put(), 2);
        assert.equal((await service.artifacts.open(x!))?.size, 9);
        await close();
      });
    }

    it('are copied to a fork once a deletion that is under way has ended', async () => {
      const url = await emptied(name, servers[server]);
      const { service, slow, asleep, close } = await slowFiles(url, sleep);
      const session = await service.getOrCreateSession(key);
      await service.appendEvent({ session, event: { id: 'e1', invocationId: 'i1' } });
      const x = { ...key, filename: 'x' };
      await service.artifacts.put({ ...x, data: bytesOf(9) });
      const deleting = slow.delete({ owner: key, name: 'x' }, {});
      await asleep;
      await fork(service, { ...key, newSessionId: 's2', at: { eventId: 'e1' } });
      await deleting;
      const copied = { ...key, sessionId: 's2' };
      assert.deepEqual(await service.artifacts.listArtifactKeys(copied), []);
      await close();
    });

    it('of a user are deleted with it, also one whose put is about to end', async () => {
      const url = await emptied(name, servers[server]);
      const { service, slow, asleep, close } = await slowFiles(url, sleep);
      await service.artifacts.put({ ...key, filename: 'user:x', data: bytesOf(9) });
      const putting = slow.put(
        { owner: { ...user, sessionId: undefined }, name: 'y' },
        file(9),
        {},
      );
      await asleep;
      await service.deleteUser(user);
      await putting;
      assert.deepEqual(await service.artifacts.usage(user), { versions: 0, bytes: 0 });
      await close();
    });
  });
}
