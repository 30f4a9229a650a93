import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type Event,
  SessionError,
  type SessionServiceOptions,
  type StateShape,
} from '../../../../js/index.js';
import type { StorageWrite } from '../../../../js/core/storage/index.js';
import { failure, openOver, says, stored, texts, USER } from '../fixture.js';
import { gate, MapStorage } from '../map_storage.js';

/** A storage that stores appends of different sessions together, and writes down which events. */
class GroupStorage extends MapStorage {
  readonly groups: (readonly string[])[] = [];
  readonly singles: (readonly string[])[] = [];
  /** Called with each group, before it is stored. */
  onGroup: (writes: readonly StorageWrite[]) => void | Promise<void> = () => undefined;

  override append(...args: Parameters<MapStorage['append']>): void | Promise<void> {
    this.singles.push(args[0].eventIds);
    return super.append(...args);
  }

  appendMany(writes: readonly StorageWrite[]): void | Promise<void> {
    return this.#storeGroup(writes);
  }

  async #storeGroup(writes: readonly StorageWrite[]): Promise<void> {
    this.groups.push(writes.flatMap(({ request }) => request.eventIds));
    await this.pause();
    await this.onGroup(writes);
    for (const { request, decide } of writes) this.write(request, decide);
  }
}

async function opened(count: number, options?: SessionServiceOptions) {
  const storage = new GroupStorage();
  const service = await openOver(storage, options);
  const sessions = await Promise.all(
    numbers(count).map((n) => service.createSession({ ...USER, sessionId: `s${n}` })),
  );
  return { storage, service, sessions };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

function named(id: string, stateDelta: StateShape = {}): Event {
  return { ...says(id, stateDelta), id };
}

describe('Appends to different sessions at the same time', () => {
  it('are one group, and each handle gets its own events', async () => {
    const { storage, service, sessions } = await opened(10);
    const appends = sessions.flatMap((session, n) => [
      service.appendEvent({ session, event: named(`${n}a`, { n }) }),
      service.appendEvent({ session, event: named(`${n}b`) }),
    ]);
    await Promise.all(appends);
    assert.deepEqual(storage.groups, [numbers(10).flatMap((n) => [`${n}a`, `${n}b`])]);
    assert.deepEqual(storage.singles, []);
    for (const [n, session] of sessions.entries()) {
      assert.deepEqual(texts(session), [`${n}a`, `${n}b`]);
      assert.deepEqual(session.state, { n });
      assert.deepEqual(await stored(service, { ...USER, sessionId: `s${n}` }), session);
    }
  });

  it('lose no key of the user or the app that they share', async () => {
    const { storage, service, sessions } = await opened(20);
    await Promise.all(
      sessions.map((session, n) =>
        service.appendEvent({
          session,
          event: named('e', { [`app:a${n}`]: n, [`user:u${n}`]: n }),
        }),
      ),
    );
    assert.equal(storage.groups.length, 1);
    assert.equal(Object.keys(await service.getAppState({ appName: 'app' })).length, 20);
    assert.equal(Object.keys(await service.getUserState(USER)).length, 20);
  });

  it('are several groups if there are many', async () => {
    const { storage, service, sessions } = await opened(300);
    await Promise.all(
      sessions.map((session, n) => service.appendEvent({ session, event: named(`${n}`) })),
    );
    assert.deepEqual(
      storage.groups.map((ids) => ids.length),
      [128, 128, 44],
    );
  });

  it('wait for a group under way, and form the next one', async (t) => {
    const { storage, service, sessions } = await opened(12);
    // On a slow machine a group would count as slow.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const turn = () => new Promise((done) => setImmediate(done));
    const { opened: gateOpened, open } = gate();
    storage.pause = () => gateOpened;
    const appends = numbers(4).map((n) =>
      service.appendEvent({ session: sessions[n]!, event: named(`${n}`) }),
    );
    await turn();
    appends.push(...[4, 5].map((n) => service.appendEvent({ session: sessions[n]!, event: named(`${n}`) }))); // prettier-ignore
    await turn();
    for (const n of [6, 7, 8, 9]) {
      appends.push(service.appendEvent({ session: sessions[n]!, event: named(`${n}`) }));
      await turn();
    }
    assert.equal(storage.groups.length, 2);
    open();
    await Promise.all(appends);
    assert.deepEqual(storage.groups[2], ['6', '7', '8', '9']);
  });

  it('do not wait long for a group that another transaction holds up', async () => {
    const { storage, service, sessions } = await opened(6);
    const { opened: gateOpened, open } = gate();
    storage.onGroup = (writes) =>
      writes.some(({ request }) => Number(request.key.sessionId?.slice(1)) < 4)
        ? gateOpened
        : undefined;
    const append = (n: number) => service.appendEvent({ session: sessions[n]!, event: named(`${n}`) }); // prettier-ignore
    const held = [append(0), append(1)];
    await new Promise((done) => setTimeout(done, 1));
    held.push(append(2), append(3));
    await new Promise((done) => setTimeout(done, 1));
    await Promise.all([append(4), append(5)]);
    open();
    await Promise.all(held);
  });

  it('come before what the service is called for behind them', async () => {
    const { storage, service, sessions } = await opened(300);
    storage.pause = () => undefined;
    const appends = sessions.map((session) => service.appendEvent({ session, event: named('e') }));
    const read = await service.getSession({ ...USER, sessionId: 's299' });
    assert.deepEqual(texts(read!), ['e']);
    await Promise.all(appends);
  });

  it('append alone through handles of another service, whose position is looked up first', async () => {
    const { storage, sessions } = await opened(3);
    const service = await openOver(storage);
    await Promise.all(
      sessions.map((session, n) => service.appendEvent({ session, event: named(`${n}`, { n }) })),
    );
    assert.deepEqual(storage.singles, [['0'], ['1'], ['2']]);
    await Promise.all(sessions.map((session) => service.appendEvent({ session, event: named('next') }))); // prettier-ignore
    assert.deepEqual(storage.groups.at(-1), ['next', 'next', 'next']);
    for (const [n, session] of sessions.entries())
      assert.deepEqual(texts(session), [`${n}`, 'next']);
  });

  it('through two handles of one session are in two groups', async () => {
    const { storage, service, sessions } = await opened(2);
    const again = (await service.getSession({ ...USER, sessionId: 's0' }))!;
    const handles = [sessions[0]!, again, sessions[1]!];
    await Promise.all(
      handles.map((session, n) => service.appendEvent({ session, event: named(`${n}`) })),
    );
    assert.deepEqual([storage.groups, storage.singles], [[['0', '2']], [['1']]]);
    assert.deepEqual(texts(await stored(service, { ...USER, sessionId: 's0' })), ['0', '1']);
  });
});

describe('A group', () => {
  it('is stored without the member that is refused', async () => {
    const { service, sessions } = await opened(3, { stale: 'reject' });
    const [, second] = sessions;
    const other = (await service.getSession({ ...USER, sessionId: 's1' }))!;
    await service.appendEvent({ session: other, event: named('other') });
    const appends = sessions.map((session, n) =>
      service.appendEvent({ session, event: named(`${n}`, { n }) }),
    );
    await failure(appends[1]!, 'stale_session');
    await Promise.all([appends[0], appends[2]]);
    assert.deepEqual(second!.events, []);
    assert.deepEqual(texts(await stored(service, { ...USER, sessionId: 's1' })), ['other']);
    assert.deepEqual(texts(await stored(service, { ...USER, sessionId: 's2' })), ['2']);
  });

  it('fails for the member alone whose session was deleted', async () => {
    const { service, sessions } = await opened(3);
    await service.deleteSession({ ...USER, sessionId: 's1' });
    const appends = sessions.map((session, n) => service.appendEvent({ session, event: named(`${n}`) })); // prettier-ignore
    await failure(appends[1]!, 'not_found');
    await Promise.all([appends[0], appends[2]]);
  });

  for (const when of ['before', 'after'] as const) {
    it(`that fails ${when} its commit is stored one by one, each event once`, async () => {
      const { storage, service, sessions } = await opened(5);
      storage.onGroup = (writes) => {
        if (when === 'after') for (const { request, decide } of writes) storage.write(request, decide); // prettier-ignore
        throw new SessionError('connection_lost', 'lost');
      };
      await Promise.all(
        sessions.map((session, n) => service.appendEvent({ session, event: named(`${n}`, { n }) })),
      );
      assert.deepEqual(storage.singles, numbers(5).map((n) => [`${n}`])); // prettier-ignore
      for (const [n, session] of sessions.entries()) {
        assert.deepEqual([texts(session), session.state], [[`${n}`], { n }]);
        assert.deepEqual(await stored(service, { ...USER, sessionId: `s${n}` }), session);
      }
    });
  }

  it('whose answer was lost fails with connection_lost for the members that fail again', async () => {
    const { storage, service, sessions } = await opened(2);
    storage.onGroup = () => {
      throw new SessionError('connection_lost', 'lost');
    };
    const write = storage.write.bind(storage);
    storage.write = (request, decide) => {
      if (request.eventIds[0] === '1') throw new Error('constraint');
      write(request, decide);
    };
    const appends = sessions.map((session, n) => service.appendEvent({ session, event: named(`${n}`) })); // prettier-ignore
    await appends[0];
    await failure(appends[1]!, 'connection_lost');
  });

  it('may leave members to be stored alone', async () => {
    const { storage, service, sessions } = await opened(4);
    storage.appendMany = async (writes) => {
      await storage.pause();
      for (const { request, decide } of writes.slice(0, 2)) storage.write(request, decide);
    };
    await Promise.all(
      sessions.map((session, n) => service.appendEvent({ session, event: named(`${n}`) })),
    );
    assert.deepEqual(storage.singles, [['2'], ['3']]);
    for (const [n, session] of sessions.entries()) assert.deepEqual(texts(session), [`${n}`]);
  });

  it('is stored without a member whose signal fires before its decision', async () => {
    const { storage, service, sessions } = await opened(3);
    const { opened: gateOpened, open } = gate();
    storage.pause = () => gateOpened;
    const controller = new AbortController();
    const appends = sessions.map((session, n) =>
      service.appendEvent({
        session,
        event: named(`${n}`),
        ...(n === 1 && { signal: controller.signal }),
      }),
    );
    await new Promise((done) => setTimeout(done, 1));
    controller.abort('changed my mind');
    assert.equal((await failure(appends[1]!, 'aborted')).cause, 'changed my mind');
    open();
    await Promise.all([appends[0], appends[2]]);
    assert.deepEqual(texts(await stored(service, { ...USER, sessionId: 's1' })), []);
    assert.deepEqual(texts(await stored(service, { ...USER, sessionId: 's2' })), ['2']);
  });

  for (const when of ['later', 'at once'] as const) {
    it(`is stored without a member whose signal fired in a first attempt, if the storage retries ${when}`, async () => {
      const { storage, service, sessions } = await opened(3);
      const controller = new AbortController();
      storage.appendMany = (writes) => {
        // Decided and rolled back.
        for (const { request, decide } of writes) decide(storage.find(request));
        controller.abort('changed my mind');
        const retry = (): void => {
          for (const { request, decide } of writes) storage.write(request, decide);
        };
        return when === 'later' ? Promise.resolve().then(retry) : retry();
      };
      const appends = sessions.map((session, n) =>
        service.appendEvent({
          session,
          event: named(`${n}`),
          ...(n === 1 && { signal: controller.signal }),
        }),
      );
      assert.equal((await failure(appends[1]!, 'aborted')).cause, 'changed my mind');
      await Promise.all([appends[0], appends[2]]);
      assert.deepEqual(texts(await stored(service, { ...USER, sessionId: 's1' })), []);
      assert.deepEqual(texts(await stored(service, { ...USER, sessionId: 's2' })), ['2']);
    });
  }

  it('stores a member whose signal fires after its last decision', async () => {
    const { storage, service, sessions } = await opened(2);
    const controller = new AbortController();
    storage.appendMany = async (writes) => {
      for (const { request, decide } of writes) storage.write(request, decide);
      controller.abort();
      await storage.pause();
    };
    const { signal } = controller;
    await Promise.all(
      sessions.map((session, n) => service.appendEvent({ session, event: named(`${n}`), signal })),
    );
    for (const [n, session] of sessions.entries()) assert.deepEqual(texts(session), [`${n}`]);
  });

  it('goes on when a storage answers at once', async () => {
    const { storage, service, sessions } = await opened(3);
    storage.appendMany = (writes) => {
      for (const { request, decide } of writes) storage.write(request, decide);
    };
    for (const round of numbers(3)) {
      await Promise.all(
        sessions.map((session) => service.appendEvent({ session, event: named(`${round}`) })),
      );
    }
    for (const session of sessions) assert.deepEqual(texts(session), ['0', '1', '2']);
  });
});
