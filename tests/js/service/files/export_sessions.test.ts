import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { storageOfParts } from '../whole_storage.js';
import {
  exportSession,
  exportSessions,
  type SessionFile,
  sessionToFile,
} from '../../../../js/service/files/index.js';
import { asAdkService } from '../../../../js/service/adk/index.js';
import {
  type Event,
  InMemorySessionService,
  openSessionService,
  type SessionService,
} from '../../../../js/index.js';
import type { StorageListRequest } from '../../../../js/core/storage/index.js';
import { failure, overStorages, says } from '../fixture.js';
import { requireRewound, rewindIn } from './rewound.js';
import { fill, ids, imported, linesOf, SHOP, whole } from './streams.js';

const idsOf = ({ events }: { events?: unknown }): string[] =>
  (events as Event[]).map(({ id }) => id);

overStorages('A whole app', (open) => {
  it('is the same after export and import', async () => {
    const service = await open();
    await fill(service, 'ada', ids(3));
    await fill(service, 'bob', ids(2));
    const copy = await open();
    const outcomes = await imported(copy, exportSessions(service, SHOP));
    assert.ok(outcomes.every(({ error }) => error === undefined));
    assert.equal(outcomes.filter(({ kind }) => kind === 'session').length, 5);
    assert.deepEqual(await whole(copy), await whole(service));
  });

  it('has all events of a rewound session, and what was undone can be brought back', async () => {
    const [service, copy] = [await open(), await open()];
    const key = { ...SHOP, userId: 'ada', sessionId: 's' };
    await rewindIn(service, key);
    const outcomes = await imported(copy, exportSessions(service, SHOP));
    assert.ok(outcomes.every(({ error }) => error === undefined));
    await requireRewound(copy, key);
  });

  it('is exported completely by a service for a Runner that reads the last events', async () => {
    const service = asAdkService(await open(), { numRecentEvents: 1 }) as unknown as SessionService;
    const key = { ...SHOP, userId: 'ada', sessionId: 's' };
    const session = await service.createSession(key);
    const events = Array.from({ length: 40 }, (_, at) => says(`${at}`));
    await service.appendEvents({ session, events });
    const given = await service.getSession(key);
    assert.equal(given?.events.length, 1);
    const file = await exportSession(service, key);
    const line = (await linesOf(service, SHOP)).at(-1) ?? '';
    for (const whole of [file, JSON.parse(line) as SessionFile]) {
      assert.deepEqual(idsOf(whole), idsOf(session));
    }
  });

  it('of many pages lists each session once', async () => {
    const service = await open();
    await fill(service, 'ada', ids(150));
    await fill(service, 'bob', ids(101));
    const lines = await linesOf(service, SHOP);
    // The first, the app's and the two users'.
    assert.equal(lines.length, 251 + 4);
    assert.equal(new Set(lines).size, lines.length);
  });
});

describe('The lines of an export', () => {
  it("are the header, the app's state, then each user with their sessions", async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ['s']);
    const lines = await linesOf(service, SHOP);
    assert.ok(lines.every((line) => line.indexOf('\n') === line.length - 1));
    const [header, app, user, session, ...others] = lines.map(
      (line) => JSON.parse(line) as unknown,
    );
    assert.deepEqual(header, { format: 'adk-sessions', version: 1 });
    assert.deepEqual(app, { ...SHOP, appState: { motd: 'hi\nthere\u2028' } });
    assert.deepEqual(user, { ...SHOP, userId: 'ada', userState: { of: 'ada' } });
    const key = { ...SHOP, userId: 'ada', sessionId: 's' };
    assert.deepEqual(session, sessionToFile((await service.getSession(key))!));
    assert.deepEqual(others, []);
  });

  it('are only those of the requested user', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ids(2));
    await fill(service, 'bob', ids(2));
    const lines = await linesOf(service, { ...SHOP, userId: 'bob' });
    assert.equal(lines.length, 4);
    assert.ok(lines.slice(1).every((line) => line.includes('"userId":"bob"')));
  });

  it('of several apps can be one stream', async () => {
    const service = new InMemorySessionService();
    const lines: string[] = [];
    for (const appName of ['shop', 'bank']) {
      await service.createSession({ appName, userId: 'ada', sessionId: appName });
      lines.push(...(await linesOf(service, { appName })));
    }
    const outcomes = await imported(new InMemorySessionService(), lines);
    assert.deepEqual(
      outcomes.flatMap(({ kind, sessionId = '' }) => (kind === 'session' ? sessionId : [])),
      ['shop', 'bank'],
    );
  });

  it('are read from the store as the caller iterates', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ids(3));
    const lines = exportSessions(service, SHOP);
    for (let taken = 0; taken < 4; taken += 1) await lines.next();
    await service.deleteSession({ ...SHOP, userId: 'ada', sessionId: 's1' });
    const left: string[] = [];
    for await (const line of lines) left.push(line);
    assert.equal(left.length, 1);
    assert.match(left[0] ?? '', /"id":"s2"/);
  });

  it('contain each session once while others are updated, created and deleted', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ids(350));
    const touch = async (sessionId: string): Promise<void> => {
      const key = { ...SHOP, userId: 'ada', sessionId };
      await service.updateState({ ...key, stateDelta: { touched: true } });
    };
    const found: string[] = [];
    for await (const line of exportSessions(service, { ...SHOP, userId: 'ada' })) {
      const { id } = JSON.parse(line) as { id?: string };
      if (id === undefined) continue;
      found.push(id);
      // Exported sessions move to the end or are deleted, so that all later ones move up.
      if (found.length % 3 === 0) await touch(found.at(-2) ?? '');
      if (found.length % 7 === 0) {
        await service.deleteSession({ ...SHOP, userId: 'ada', sessionId: found.at(-3) ?? '' });
      }
      // So does what will be.
      if (found.length === 50) for (let at = 60; at < 340; at += 9) await touch(`s${at}`);
    }
    assert.equal(new Set(found).size, found.length);
    assert.deepEqual(new Set(found), new Set(ids(350)));
  });

  it('contain each session if the last one of a page is updated after it', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ids(150));
    const found = new Set<string>();
    for await (const line of exportSessions(service, SHOP)) {
      const { id } = JSON.parse(line) as { id?: string };
      if (id === undefined) continue;
      found.add(id);
      if (id !== 's99') continue;
      // Both move to the end of the list, and so onto the next page.
      for (const sessionId of ['s5', 's99']) {
        const key = { ...SHOP, userId: 'ada', sessionId };
        await service.updateState({ ...key, stateDelta: { touched: true } });
      }
    }
    assert.deepEqual(found, new Set(ids(150)));
  });

  it('are listed with `withTotal: false`', async () => {
    const asked: StorageListRequest[] = [];
    const service = await openSessionService({ storage: storageOfParts(asked) });
    await fill(service, 'ada', ids(120));
    await linesOf(service, SHOP);
    // The walk ends with a pass over what has moved meanwhile.
    assert.deepEqual(
      asked.map(({ withTotal }) => withTotal),
      [false, false, false],
    );
  });

  it('do not begin if the request is invalid', async () => {
    const service = new InMemorySessionService();
    for (const request of [undefined, {}, { appName: '' }, { ...SHOP, userId: 7 }]) {
      await failure(exportSessions(service, request as never).next(), 'invalid_argument');
    }
  });

  it("end with the signal's reason when it fires", async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ids(3));
    const controller = new AbortController();
    const lines = exportSessions(service, { ...SHOP, signal: controller.signal });
    await lines.next();
    controller.abort();
    await failure(lines.next(), 'aborted');
  });
});
