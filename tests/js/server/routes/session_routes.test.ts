import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../../js/stores/http/protocol.js';
import { APP, eventJson, idsIn, KEY, seed, serve, SESSION, SESSIONS } from '../fixture.js';

describe('Sessions over HTTP', () => {
  it('a session is created with a fresh id, or with the given one', async () => {
    const { ask, service } = serve();
    const fresh = await ask(SESSIONS, { method: 'POST' });
    assert.equal(fresh.status, 200);
    assert.match((fresh.body as { id: string }).id, /^[0-9a-f-]{36}$/);

    const state = {
      topic: 'tea',
      'user:name': 'Ada',
      'app:motd': 'hello',
      'temp:x': 1,
      none: null,
    };
    const given = await ask(SESSIONS, { body: { sessionId: 's1', state } });
    const stored = await service.getSession(KEY);
    assert.deepEqual(given.body, {
      id: 's1',
      appName: APP,
      userId: 'ada',
      state: stored?.state,
      events: [],
      lastUpdateTime: stored!.lastUpdateTime / 1000,
    });
  });

  it('a long session is sent whole, with other tasks of the server between its pages', async (t) => {
    const { ask, service } = serve();
    const session = await service.createSession({ ...KEY, state: { none: null } });
    const events = Array.from({ length: 4500 }, (_, at) => ({
      id: `e${at}`,
      invocationId: 'i1',
      author: 'user',
    }));
    await service.appendEvents({ session, events });
    let tasks = 0;
    const counter = setInterval(() => (tasks += 1), 0);
    t.after(() => clearInterval(counter));
    for (const form of ['adk api_server', 'own']) {
      const headers = form === 'own' ? { [PROTOCOL_HEADER]: PROTOCOL_VERSION } : {};
      tasks = 0;
      const { body, status } = await ask(SESSION, { headers });
      // The pages are read, converted and printed by turns with other tasks.
      assert.ok(tasks >= 10, `${form}: ${tasks} tasks`);
      assert.equal(status, 200);
      assert.deepEqual((body as { state: unknown }).state, { none: null });
      assert.deepEqual(
        idsIn(body),
        events.map(({ id }) => id),
      );
    }
  });

  it('members of a body may have snake_case names, as adk api_server has it', async () => {
    const { ask } = serve();
    const created = await ask(SESSIONS, { body: { session_id: 's1', title: 'Tea' } });
    assert.equal((created.body as { id: string }).id, 's1');
    const changed = await ask(SESSION, {
      method: 'PATCH',
      body: { state_delta: { topic: 'tea' } },
    });
    assert.deepEqual((changed.body as { state: unknown }).state, { topic: 'tea' });
    const both = await ask(SESSIONS, { body: { session_id: 's3', sessionId: 's2' } });
    assert.equal((both.body as { id: string }).id, 's2');
  });

  it('null at a creation counts as absent, as adk api_server has it', async () => {
    const { ask } = serve();
    const body = { sessionId: null, state: null, events: null, lastUpdateTime: null, title: null };
    const { status, body: session } = await ask(SESSIONS, { body });
    assert.equal(status, 200);
    assert.deepEqual((session as { state: unknown }).state, {});
  });

  it('a lastUpdateTime that is no number is refused with 400', async () => {
    const { ask } = serve();
    for (const lastUpdateTime of ['5', true, [], {}]) {
      const { status, body } = await ask(SESSIONS, { body: { lastUpdateTime } });
      assert.equal(status, 400);
      assert.equal((body as { key: string }).key, 'lastUpdateTime');
    }
  });

  it('a session is created with its events in one step', async () => {
    const { ask } = serve();
    const events = [eventJson('e1', { turn: 1 }), eventJson('e2', { turn: 2 })];
    const { status, body } = await ask(SESSIONS, { body: { sessionId: 's1', events } });
    assert.equal(status, 200);
    assert.deepEqual(idsIn(body), ['e1', 'e2']);
    assert.deepEqual((body as { state: unknown }).state, { turn: 2 });
  });

  it('the info of a session counts its events, with times in milliseconds', async () => {
    const { ask, service } = serve();
    await ask(SESSIONS, {
      body: { sessionId: 's1', title: 'Tea', state: { a: 1 }, events: [eventJson('e1', {})] },
    });
    const { status, body } = await ask(`${SESSION}/info`);
    assert.equal(status, 200);
    const { createTime = NaN, lastUpdateTime, bytes, ...info } = await service.sessionInfo(KEY);
    const { bytes: shownBytes, ...shown } = body as { bytes: number };
    // Without what a client does not see of its event.
    assert.equal(
      bytes - shownBytes,
      '"customMetadata":{"__adk_internal_restored_event":true},'.length,
    );
    assert.deepEqual(shown, {
      createTime,
      lastUpdateTime,
      ...info,
    });
    assert.deepEqual([info.eventCount, info.title, info.initialState], [1, 'Tea', { a: 1 }]);
    assert.equal((await ask(`${SESSIONS}/none/info`)).status, 404);
  });

  it('a session has a title and labels, which change without an event', async () => {
    const { ask } = serve();
    const labels = { topic: 'tea' };
    const created = await ask(SESSIONS, { body: { sessionId: 's1', title: 'Tea', labels } });
    const described = ({ body }: { body: unknown }) => {
      const { title, labels, events } = body as Record<string, unknown>;
      return { title, labels, events };
    };
    assert.deepEqual(described(created), { title: 'Tea', labels, events: [] });
    const changes = { title: 'Milk', labels: null };
    const changed = await ask(`${SESSION}/description`, { method: 'PATCH', body: changes });
    assert.equal(changed.status, 200);
    const after = { title: 'Milk', labels: undefined, events: [] };
    assert.deepEqual(described(await ask(SESSION)), after);
    for (const body of [{ title: 7 }, { labels: { A: '1' } }, { title: 'x'.repeat(200) }]) {
      const { status } = await ask(`${SESSION}/description`, { method: 'PATCH', body });
      assert.equal(status, 400);
    }
    assert.deepEqual(described(await ask(SESSION)), after);
  });

  it('sessions are deleted by user, time and labels, and counted', async () => {
    const { ask, service } = serve();
    const labels = { kind: 'trial', lang: 'en' };
    for (const [userId, sessionId, lastUpdateTime, of] of [
      ['ada', 'old', 1000, labels],
      ['ada', 'plain', 1000, undefined],
      ['ada', 'new', 2000, labels],
      ['bob', 'old', 1000, labels],
    ] as const) {
      await service.createSession({ appName: APP, userId, sessionId, lastUpdateTime, labels: of });
    }
    const remove = (query: string) => ask(`/apps/${APP}/sessions${query}`, { method: 'DELETE' });
    const left = async () => {
      const { sessions } = await service.listSessions({ appName: APP });
      return sessions.map(({ userId, id }) => `${userId} ${id}`).sort();
    };
    const bad = [
      '?olderThan=yesterday',
      '?label=kind',
      '?label=Kind:trial',
      '?limit=1',
      '?userId=',
    ];
    for (const query of bad) assert.equal((await remove(query)).status, 400, query);
    assert.equal((await left()).length, 4);
    const query = '?userId=ada&olderThan=1500&label=kind:trial&label=lang:en';
    const { status, body } = await remove(query);
    assert.deepEqual([status, body], [200, { deleted: 1 }]);
    assert.deepEqual(await left(), ['ada new', 'ada plain', 'bob old']);
    assert.deepEqual((await remove('')).body, { deleted: 3 });
    assert.deepEqual(await left(), []);
  });

  it('an id that is taken is refused with 409', async () => {
    const { ask } = serve();
    await ask(SESSIONS, { body: { sessionId: 's1' } });
    const { status, body } = await ask(SESSIONS, { body: { sessionId: 's1' } });
    assert.equal(status, 409);
    assert.equal((body as { code: string }).code, 'already_exists');
  });

  it('the older form of a creation takes the body as the state', async () => {
    const { ask, service } = serve();
    const { status } = await ask(SESSION, { body: { state: 1, events: 2 } });
    assert.equal(status, 200);
    assert.deepEqual((await service.getSession(KEY))?.state, { state: 1, events: 2 });
  });

  it('PUT creates a session once', async () => {
    const { ask } = serve();
    const put = (topic: string) => ask(SESSION, { method: 'PUT', body: { state: { topic } } });
    assert.deepEqual((await put('tea')).body, (await put('milk')).body);
  });

  it('a session is returned with all events, the last ones, or later ones', async () => {
    const { ask, service } = serve();
    const events = [1000, 2000, 3000].map((timestamp) => {
      return { id: `e${timestamp}`, author: 'user', invocationId: 'i', timestamp };
    });
    await service.createSession({ ...KEY, events });
    assert.deepEqual(idsIn((await ask(SESSION)).body), ['e1000', 'e2000', 'e3000']);
    assert.deepEqual(idsIn((await ask(`${SESSION}?numRecentEvents=1`)).body), ['e3000']);
    assert.deepEqual(idsIn((await ask(`${SESSION}?afterTimestamp=1.5`)).body), ['e2000', 'e3000']);
  });

  it('a session that does not exist is 404', async () => {
    const { ask } = serve();
    const missing = await ask(SESSION);
    assert.equal(missing.status, 404);
    assert.deepEqual(missing.body, { detail: 'Session not found', code: 'not_found' });
    const patched = await ask(SESSION, { method: 'PATCH', body: { stateDelta: { a: 1 } } });
    assert.equal(patched.status, 404);
  });

  it('a session that does not exist is null for our own client', async () => {
    const { ask } = serve();
    const headers = { 'adk-session-protocol': '1.0' };
    for (const path of ['', '/info', '/changes?since=0', '/events']) {
      const { status, body } = await ask(`${SESSION}${path}`, { headers });
      assert.deepEqual([status, body], [200, null], path);
    }
    const body = { eventIds: ['e1'] };
    const byId = await ask(`${SESSION}/events/by-id`, { headers, body });
    assert.deepEqual([byId.status, byId.body], [200, null]);
    assert.equal((await ask(`${SESSION}/branches`, { headers })).status, 404);
  });

  it('PATCH changes state by an event and returns the session', async () => {
    const { ask, service } = serve();
    await seed(service);
    const stateDelta = { topic: 'milk', 'user:name': 'Ada' };
    const { body } = await ask(SESSION, { method: 'PATCH', body: { stateDelta } });
    const { state, events } = body as { state: unknown; events: unknown[] };
    assert.deepEqual(state, { topic: 'milk', turn: 1, 'user:name': 'Ada' });
    assert.equal(events.length, 2);
    assert.equal((await ask(SESSION, { method: 'PATCH', body: {} })).status, 400);
  });

  it('a deleted session is gone, and deleting it again is no error', async () => {
    const { ask, service } = serve();
    await seed(service);
    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await ask(SESSION, { method: 'DELETE' });
      assert.deepEqual([status, body], [200, null]);
    }
    assert.equal((await ask(SESSION)).status, 404);
  });

  it("a user's sessions are listed without events, the last updated last", async () => {
    const { ask, service } = serve();
    for (const [sessionId, lastUpdateTime] of [
      ['new', 2000],
      ['old', 1000],
    ] as const) {
      await service.createSession({ ...KEY, sessionId, lastUpdateTime, state: { sessionId } });
    }
    const { body } = await ask(SESSIONS);
    const listed = body as { id: string; events: unknown[]; state: unknown }[];
    assert.deepEqual(
      listed.map(({ id, events, state }) => [id, events, state]),
      [
        ['old', [], { sessionId: 'old' }],
        ['new', [], { sessionId: 'new' }],
      ],
    );
  });

  it('a page of the sessions of an app has the requested sessions and the total', async () => {
    const { ask, service } = serve();
    for (let number = 0; number < 5; number += 1) {
      const userId = number < 3 ? 'ada' : 'bob';
      const sessionId = `s${number}`;
      await service.createSession({ appName: APP, userId, sessionId, state: { number, other: 1 } });
    }
    const page = await ask(`/apps/${APP}/sessions?userId=ada&limit=2&page=2&stateKeys=number`);
    const { sessions, ...rest } = page.body as { sessions: { id: string; state: unknown }[] };
    const revision = service.revisionOf((await service.getSession({ ...KEY, sessionId: 's2' }))!);
    const revisions = [{ created: revision, revision }];
    assert.deepEqual(rest, { revisions, page: 2, limit: 2, totalItems: 3, totalPages: 2 });
    assert.deepEqual(
      sessions.map(({ id, state }) => [id, state]),
      [['s2', { number: 2 }]],
    );
    const byCreation = await ask(`/apps/${APP}/sessions?orderBy=createTime&limit=2`);
    assert.equal((byCreation.body as { sessions: object[] }).sessions.length, 2);
    assert.equal((await ask(`/apps/${APP}/sessions?orderBy=id`)).status, 400);
    const all = await ask(`/apps/${APP}/sessions?order=desc&withTotal=false`);
    assert.equal((all.body as { sessions: unknown[] }).sessions.length, 5);
    assert.equal((await ask(`/apps/${APP}/sessions?limit=1001`)).status, 400);
  });

  it('a deletion with the revision of another creation deletes nothing', async () => {
    const { ask, service } = serve();
    await service.createSession(KEY);
    const { headers } = await ask(SESSION);
    const created = Number(headers.get('adk-session-created'));
    await ask(`${SESSION}?created=${created + 1}`, { method: 'DELETE' });
    assert.ok(await service.getSession(KEY));
    await ask(`${SESSION}?created=${created}`, { method: 'DELETE' });
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('other clients have seconds on the routes of adk api_server alone', async () => {
    const { ask, service } = serve();
    const session = await service.createSession(KEY);
    const since = service.revisionOf(session);
    const event = { id: 'e1', author: 'user', invocationId: 'i1', timestamp: 2_000_000_000_000 };
    await service.appendEvent({ session, event });
    const { createTime } = await service.sessionInfo(KEY);
    for (const [headers, unit] of [
      [{ [PROTOCOL_HEADER]: PROTOCOL_VERSION }, 1],
      [{}, 1000],
    ] as const) {
      const times = async (path: string) => {
        const text = JSON.stringify((await ask(path, { headers })).body);
        return [...text.matchAll(/"(?:timestamp|lastUpdateTime|createTime)":([\d.]+)/g)].map(
          ([, time]) => Number(time) * unit,
        );
      };
      const { timestamp } = event;
      assert.deepEqual(await times(SESSION), [timestamp, timestamp]);
      const later = `${SESSION}?afterTimestamp=${(timestamp + 1000) / unit}`;
      assert.deepEqual(await times(later), [timestamp]);
      const own = async (path: string) => (await times(path)).map((time) => time / unit);
      const pageTimes = [timestamp, createTime, timestamp];
      assert.deepEqual((await own(`${SESSION}/events`)).sort(), pageTimes.sort());
      assert.deepEqual(await own(`${SESSION}/changes?since=${since}`), [timestamp, timestamp]);
      assert.deepEqual(await own(`${SESSION}/info`), [createTime, timestamp]);
    }
  });

  it('a list is read by cursor, by title and by label', async () => {
    const { ask, service } = serve();
    for (const [number, title] of ['Green tea', 'Black tea', 'Coffee'].entries()) {
      const labels = { kind: 'hot', number: String(number) };
      await service.createSession({ ...KEY, sessionId: `s${number}`, title, labels });
    }
    interface Page {
      sessions: { id: string }[];
      totalItems?: number;
      nextCursor?: string;
    }
    const list = async (query: string): Promise<Page> => {
      const { status, body } = await ask(`/apps/${APP}/sessions?userId=ada&${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      return body as Page;
    };
    const ids = ({ sessions }: Page) => sessions.map(({ id }) => id);
    const first = await list('limit=2');
    assert.deepEqual(ids(first), ['s0', 's1']);
    const cursor = encodeURIComponent(first.nextCursor!);
    assert.deepEqual(ids(await list(`limit=2&cursor=${cursor}`)), ['s2']);
    const teas = await list('limit=1&title=TEA&order=desc');
    assert.deepEqual([ids(teas), teas.totalItems], [['s1'], undefined]);
    assert.deepEqual(ids(await list('label=kind:hot&label=number:2')), ['s2']);
    for (const [query, key] of [
      [`order=desc&cursor=${cursor}`, 'cursor'],
      ['label=hot', 'label'],
      ['title=', 'title'],
    ] as const) {
      const { status, body } = await ask(`/apps/${APP}/sessions?userId=ada&${query}`);
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), new RegExp(key));
    }
  });

  it('a response that the client has already is 304, until anything in it changes', async () => {
    const { ask, service } = serve();
    await seed(service);
    const etag = (await ask(SESSION)).headers.get('etag')!;
    const again = () => ask(SESSION, { headers: { 'if-none-match': `"other", W/${etag}` } });
    assert.equal((await again()).status, 304);
    // The session's own revision stays the same.
    await service.updateState({ appName: APP, stateDelta: { 'app:motd': 'new' } });
    assert.equal((await again()).status, 200);
  });

  it('HEAD has the headers of GET and no body', async () => {
    const { ask, service } = serve();
    await seed(service);
    const [head, get] = [await ask(SESSION, { method: 'HEAD' }), await ask(SESSION)];
    assert.equal(head.body, undefined);
    assert.equal(head.headers.get('etag'), get.headers.get('etag'));
  });

  it('a base path comes before all paths', async () => {
    const { ask } = serve({ basePath: '/api/adk' });
    assert.equal((await ask(`/api/adk${SESSIONS}`)).status, 200);
    assert.equal((await ask(SESSIONS)).status, 404);
  });
});
