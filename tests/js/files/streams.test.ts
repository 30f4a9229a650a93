import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';

import { InMemorySessionService as FrameworkService } from '@google/adk';

import { mapAdapter } from '../../../js/examples/map_adapter.js';
import {
  exportSession,
  exportSessions,
  type ExportSessionsRequest,
  importSessions,
  type ImportOutcome,
  type ImportSessionsOptions,
  type LinesSource,
  type SessionFile,
  sessionToFile,
} from '../../../js/files/index.js';
import {
  type BaseSessionService,
  type Event,
  InMemorySessionService,
  openSessionService,
  type StateShape,
  type StorageAdapter,
} from '../../../js/index.js';
import { failure, overStorages, says } from '../service/fixture.js';

const SHOP = { appName: 'shop' };

async function linesOf(
  service: BaseSessionService,
  request: ExportSessionsRequest,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportSessions(service, request)) lines.push(line);
  return lines;
}

async function imported(
  service: BaseSessionService,
  source: LinesSource,
  options?: ImportSessionsOptions,
): Promise<ImportOutcome[]> {
  const outcomes: ImportOutcome[] = [];
  for await (const outcome of importSessions(service, source, options)) outcomes.push(outcome);
  return outcomes;
}

async function fill(
  service: BaseSessionService,
  userId: string,
  sessionIds: readonly string[],
): Promise<void> {
  for (const [at, sessionId] of sessionIds.entries()) {
    const state = { at, 'user:of': userId, 'app:motd': 'hi\nthere\u2028' };
    const request = { ...SHOP, userId, sessionId, state, lastUpdateTime: at * 1000 };
    const session = await service.createSession(request);
    await service.appendEvent({
      session,
      event: { ...says(`${sessionId}\n`), timestamp: at * 1000 },
    });
  }
}

/** All of the app, without what orders it. */
async function whole(service: BaseSessionService): Promise<StateShape> {
  const sessions: StateShape = {};
  const { sessions: listed } = await service.listSessions(SHOP);
  for (const { userId, id: sessionId } of listed) {
    const key = { ...SHOP, userId, sessionId };
    sessions[`${userId}/${sessionId}`] = await exportSession(service, key);
  }
  return { sessions, app: await service.getAppState(SHOP) };
}

const idsOf = ({ events }: { events?: unknown }): string[] =>
  (events as Event[]).map(({ id }) => id);

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `s${at}`);

overStorages('A whole app', (open) => {
  it('is the same after export and import', async () => {
    const service = await open();
    await fill(service, 'ada', ids(3));
    await fill(service, 'bob', ids(2));
    for (const dialect of [{}, { casing: 'snake', timeUnit: 'seconds' }] as const) {
      const copy = await open();
      const outcomes = await imported(copy, exportSessions(service, { ...SHOP, ...dialect }));
      assert.ok(outcomes.every(({ error }) => error === undefined));
      assert.equal(outcomes.filter(({ kind }) => kind === 'session').length, 5);
      assert.deepEqual(await whole(copy), await whole(service));
    }
  });

  it('is exported completely by a service that caps its histories', async () => {
    const service = await open({ history: { numRecentEvents: 1 } });
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
    assert.deepEqual(header, {
      format: 'adk-sessions',
      version: 1,
      casing: 'camel',
      timeUnit: 'milliseconds',
    });
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

  it('cover a whole store if all its apps are named', async () => {
    const service = new InMemorySessionService();
    for (const appName of ['shop', 'bank', 'school']) {
      await service.createSession({ appName, userId: 'ada', sessionId: appName });
    }
    const lines = await linesOf(service, { appName: ['shop', 'bank', 'shop'] });
    const copy = new InMemorySessionService();
    const outcomes = await imported(copy, lines);
    assert.deepEqual(
      outcomes.flatMap(({ kind, sessionId = '' }) => (kind === 'session' ? sessionId : [])),
      ['shop', 'bank'],
    );
    assert.deepEqual(await linesOf(copy, { appName: ['shop', 'bank'] }), lines);
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
    const withTotals: unknown[] = [];
    const adapter = mapAdapter();
    const storage: StorageAdapter = {
      ...adapter,
      list(request) {
        withTotals.push(request.withTotal);
        return adapter.list(request);
      },
    };
    const service = await openSessionService({ storage });
    await fill(service, 'ada', ids(120));
    await linesOf(service, SHOP);
    // The walk ends with a pass over what has moved meanwhile.
    assert.deepEqual(withTotals, [false, false, false]);
  });

  it('do not begin if the request is invalid', async () => {
    const service = new InMemorySessionService();
    const wrong = [undefined, {}, { appName: [], userId: 7 }, { appName: ['shop', ''] }];
    const dialects = [
      { ...SHOP, casing: 'kebab' },
      { ...SHOP, timeUnit: 'days' },
      { ...SHOP, initialState: 'yes' },
    ];
    for (const request of [...wrong, ...dialects]) {
      await failure(exportSessions(service, request as never).next(), 'invalid_argument');
    }
    const key = { ...SHOP, userId: 'ada', sessionId: 's1' };
    const file = exportSession(service, key, { initialState: 1 as never });
    await failure(file, 'invalid_argument');
  });

  it('do not begin if the service lacks a method', async () => {
    const framework = new FrameworkService() as never;
    const lines = exportSessions(framework, SHOP).next();
    assert.match((await failure(lines, 'invalid_argument')).message, /getAppState, getUserState/);
    const key = { ...SHOP, userId: 'ada', sessionId: 's1' };
    const file = exportSession(framework, key, { initialState: true });
    assert.match((await failure(file, 'invalid_argument')).message, /sessionInfo/);
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

describe('A stream that is imported', () => {
  it('can arrive in any chunks, as text or bytes, from any kind of source', async () => {
    const service = new InMemorySessionService();
    const userId = 'ünïcödé 😀';
    await fill(service, userId, ids(2));
    const text = (await linesOf(service, SHOP)).join('');
    const bytes = new TextEncoder().encode(text);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
      bytes.slice(at * 7, at * 7 + 7),
    );
    const sources: Record<string, LinesSource> = {
      text,
      'with \\r\\n and blank lines': text.replaceAll('\n', '\r\n\r\n'),
      'without the last end of line': text.trimEnd(),
      'an array of text': [text.slice(0, 100), text.slice(100)],
      'bytes cut within characters': pieces,
      'a stream of Node': Readable.from(pieces),
      'a web stream': new Blob([bytes]).stream(),
      'a web stream that cannot be iterated': notIterable(new Blob([bytes]).stream()),
    };
    for (const [name, source] of Object.entries(sources)) {
      const copy = new InMemorySessionService();
      await imported(copy, source);
      assert.deepEqual(await whole(copy), await whole(service), name);
    }
  });

  it('reports the outcome of each line, and continues after a line that fails', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ['s0']);
    const session = (id: string, more: object = {}): string =>
      JSON.stringify({ id, ...SHOP, userId: 'ada', events: [], ...more });
    const lines = [
      session('new'),
      '{"id":',
      session('s0'),
      '[]',
      session('bad', { events: [{ id: 'e' }] }),
      JSON.stringify({ ...SHOP, userId: 'ada', userState: 7 }),
      session('last'),
    ];
    const outcomes = await imported(service, lines.join('\n'));
    assert.deepEqual(
      outcomes.map(({ line, kind, sessionId, error }) => [line, kind, sessionId, error?.code]),
      [
        [1, 'session', 'new', undefined],
        [2, 'session', undefined, 'invalid_argument'],
        [3, 'session', 's0', 'already_exists'],
        [4, 'session', undefined, 'invalid_argument'],
        [5, 'session', 'bad', 'invalid_argument'],
        [6, 'userState', undefined, 'invalid_argument'],
        [7, 'session', 'last', undefined],
      ],
    );
    assert.equal(outcomes[4]?.error?.path, 'events[0].timestamp');
    assert.equal(outcomes[5]?.error?.path, 'userState');
    const { sessions } = await service.listSessions({ ...SHOP, userId: 'ada' });
    assert.deepEqual(new Set(sessions.map(({ id }) => id)), new Set(['s0', 'new', 'last']));
  });

  it('reports what a service of the framework cannot import, and imports the rest', async () => {
    const service = new FrameworkService();
    const session = { ...SHOP, userId: 'ada', state: {}, events: [] };
    const lines = [
      { ...SHOP, appState: { motd: 'hi' } },
      { ...SHOP, userId: 'ada', userState: { name: 'Ada' } },
      { ...session, id: 'shared', state: { 'user:name': 'Ada' } },
      { ...session, id: 'own', state: { at: 1 } },
    ].map((line) => JSON.stringify(line));
    const outcomes = await imported(service as never, lines.join('\n'));
    assert.deepEqual(
      outcomes.map(({ error }) => error?.message.replace(/;.*/, '')),
      [
        'service must be a session service with getAppState, updateState',
        'service must be a session service with getUserState, updateState',
        'service must be a session service with getAppState, getUserState',
        undefined,
      ],
    );
    const { sessions } = await service.listSessions({ ...SHOP, userId: 'ada' });
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ['own'],
    );
  });

  it('can hold plain sessions, one per line, each in its own dialect', async () => {
    const service = new InMemorySessionService();
    const python = {
      id: 'p',
      app_name: 'shop',
      user_id: 'ada',
      events: [{ id: 'e', timestamp: 1.7e9 }],
    };
    const typeScript = {
      id: 't',
      ...SHOP,
      userId: 'ada',
      events: [{ id: 'e', timestamp: 1.7e12 }],
    };
    await imported(service, `${JSON.stringify(python)}\n${JSON.stringify(typeScript)}`);
    for (const sessionId of ['p', 't']) {
      const session = await service.getSession({ ...SHOP, userId: 'ada', sessionId });
      assert.equal(session?.events[0]?.timestamp, 1.7e12);
    }
  });

  it('states the unit of ambiguous times in its header', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ids(2));
    for (const timeUnit of ['milliseconds', 'seconds'] as const) {
      const copy = new InMemorySessionService();
      const outcomes = await imported(copy, exportSessions(service, { ...SHOP, timeUnit }));
      assert.deepEqual(
        outcomes.filter(({ error }) => error),
        [],
      );
      assert.deepEqual(await whole(copy), await whole(service));
    }
  });

  it('sets the states of users and app by sharedState, wherever the sessions are', async () => {
    const source = new InMemorySessionService();
    await fill(source, 'ada', ids(2));
    const text = (await linesOf(source, SHOP)).join('');
    const expected = { fill: 'mine', keep: 'mine', overwrite: 'ada' } as const;
    for (const sharedState of ['fill', 'keep', 'overwrite'] as const) {
      const service = new InMemorySessionService();
      const user = { ...SHOP, userId: 'ada' };
      await service.updateState({ ...user, stateDelta: { 'user:of': 'mine' } });
      const outcomes = await imported(service, text, { sharedState });
      assert.deepEqual(
        outcomes.filter(({ error }) => error),
        [],
      );
      assert.deepEqual(await service.getUserState(user), { of: expected[sharedState] });
      const app = sharedState === 'keep' ? {} : { motd: 'hi\nthere\u2028' };
      assert.deepEqual(await service.getAppState(SHOP), app);
    }
  });

  it('can be imported into another app, and be appended to another stream', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ['a']);
    await fill(service, 'bob', ['b']);
    const ofOne = async (userId: string): Promise<string> =>
      (await linesOf(service, { ...SHOP, userId })).join('');
    const text = (await ofOne('ada')) + (await ofOne('bob'));
    await imported(service, text, { appName: 'copy' });
    const { sessions } = await service.listSessions({ appName: 'copy' });
    assert.deepEqual(sessions.map(({ id }) => id).sort(), ['a', 'b']);
    assert.deepEqual(await service.getUserState({ appName: 'copy', userId: 'bob' }), { of: 'bob' });
  });

  it('is refused if a newer version has written it', async () => {
    const service = new InMemorySessionService();
    const header = '{"format":"adk-sessions","version":2}';
    for (const options of [{}, { timeUnit: 'seconds' }] as const) {
      const error = await failure(imported(service, header, options), 'unsupported');
      assert.match(error.message, /Update the package/);
    }
  });

  it('ends with an error that is not caused by a line', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ids(1));
    const text = (await linesOf(service, SHOP)).join('');
    await failure(imported(service, text, { signal: AbortSignal.abort() }), 'aborted');
    await failure(imported(service, [new Uint8Array([0xff])]), 'invalid_argument');
    await failure(imported(service, [7 as never]), 'invalid_argument');
    await failure(imported(service, 7 as never), 'invalid_argument');
    await service.close();
    await failure(imported(service, text), 'closed');
  });

  it('is released by the signal, also if it gives no more chunks', async () => {
    const service = new InMemorySessionService();
    const never = new Promise<never>(() => undefined);
    let cancelled = 0;
    const stalled = () =>
      new ReadableStream<string>({ pull: () => never, cancel: () => void (cancelled += 1) });
    const iterator = {
      next: () => never,
      return: () => {
        cancelled += 1;
        return never;
      },
    };
    const sources: LinesSource[] = [
      stalled(),
      notIterable(stalled()),
      { [Symbol.asyncIterator]: () => iterator },
    ];
    for (const source of sources) {
      const reason = new Error('the page is left');
      const stop = new AbortController();
      const importing = imported(service, source, { signal: stop.signal });
      setTimeout(() => stop.abort(reason), 10);
      assert.equal((await failure(importing, 'aborted')).cause, reason);
    }
    assert.equal(cancelled, sources.length);
  });

  it('is released when the caller stops early', async () => {
    const service = new InMemorySessionService();
    for (const options of [{}, { signal: new AbortController().signal }]) {
      let isCancelled = false;
      const stream = new ReadableStream<string>({
        pull: (controller) => controller.enqueue('{"appName":"shop","appState":{}}\n'),
        cancel: () => void (isCancelled = true),
      });
      for await (const { line } of importSessions(service, notIterable(stream), options))
        if (line === 3) break;
      assert.ok(isCancelled);
    }
  });
});

/** A stream without an async iterator, as in Safari. */
function notIterable<T>(stream: ReadableStream<T>): ReadableStream<T> {
  return { getReader: () => stream.getReader() } as ReadableStream<T>;
}
