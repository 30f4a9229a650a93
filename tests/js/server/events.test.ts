import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { eventJson, idsIn, KEY, seed, serve, SESSION } from './fixture.js';

const EVENTS = `${SESSION}/events`;

describe('Events over HTTP', () => {
  it('events are appended in order, and the response has the new state and revision', async () => {
    const { ask, service } = serve();
    await seed(service);
    const events = [eventJson('e2', { turn: 2, 'user:name': 'Ada' }), eventJson('e3')];
    const { status, body } = await ask(EVENTS, { body: { events } });
    assert.equal(status, 200);
    const appended = body as { session: { state: unknown; events: unknown }; revision: number };
    assert.deepEqual(idsIn(body), ['e2', 'e3']);
    assert.deepEqual(appended.session.state, { topic: 'tea', turn: 2, 'user:name': 'Ada' });
    const stored = await service.getSession(KEY);
    assert.deepEqual(idsIn(stored), ['e1', 'e2', 'e3']);
    assert.equal(stored?.events[1]?.timestamp, 1741218414968.405);
    assert.equal(appended.revision, service.revisionOf(stored));
  });

  it('an append that is sent again is stored once', async () => {
    const { ask, service } = serve();
    await seed(service);
    const body = { events: [eventJson('e2', { turn: 2 })] };
    const [first, second] = [await ask(EVENTS, { body }), await ask(EVENTS, { body })];
    assert.deepEqual(second.body, first.body);
    assert.deepEqual(idsIn(await service.getSession(KEY)), ['e1', 'e2']);
  });

  it('an append replaces only the version of an event that it expects', async () => {
    const { ask, service } = serve();
    await seed(service);
    const { revision } = await service.listChanges({ ...KEY, since: 0 });
    const append = (expected: number | null) =>
      ask(EVENTS, {
        body: { events: [eventJson('e1', { turn: 2 })], expectedEvents: { e1: expected } },
      });
    for (const expected of [null, revision + 1]) {
      const { status, body } = await append(expected);
      assert.equal(status, 409);
      const { code, actualEvents } = body as Record<string, unknown>;
      assert.deepEqual([code, actualEvents], ['stale_session', { e1: revision }]);
    }
    assert.equal((await append(revision)).status, 200);
    assert.equal((await service.getSession(KEY))?.state.turn, 2);
  });

  it('the response to an append has no temp: keys', async () => {
    const { ask, service } = serve();
    await seed(service);
    const events = [eventJson('e2', { 'temp:draft': 'secret', turn: 2 })];
    const { body } = await ask(EVENTS, { body: { events } });
    assert.deepEqual((body as { session: { state: unknown } }).session.state, {
      topic: 'tea',
      turn: 2,
    });
    assert.ok(!JSON.stringify(body).includes('temp:'));
  });

  it('field names may have the casing of Python', async () => {
    const { ask, service } = serve();
    await seed(service);
    const event = {
      id: 'e2',
      invocation_id: 'i',
      author: 'user',
      actions: { state_delta: { a: 1 } },
    };
    assert.equal((await ask(EVENTS, { body: { events: [event] } })).status, 200);
    assert.equal((await service.getSession(KEY))?.state.a, 1);
  });

  it('all events are stored or none', async () => {
    const { ask, service } = serve();
    await seed(service);
    const { status, body } = await ask(EVENTS, {
      body: { events: [eventJson('e2'), { ...eventJson('e3'), actions: 7 }] },
    });
    assert.equal(status, 400);
    assert.equal((body as { code: string }).code, 'invalid_argument');
    assert.deepEqual(idsIn(await service.getSession(KEY)), ['e1']);
  });

  it('an append that expects another revision is refused with both revisions', async () => {
    const { ask, service } = serve();
    await seed(service);
    const revision = service.revisionOf((await service.getSession(KEY))!);
    const append = (id: string, expectedRevision: unknown) => {
      return ask(EVENTS, { body: { events: [eventJson(id)], expectedRevision } });
    };
    assert.equal((await append('e2', revision)).status, 200);
    const { status, body } = await append('e3', revision);
    assert.equal(status, 409);
    const { code, expectedRevision } = body as { code: string; expectedRevision: number };
    assert.deepEqual([code, expectedRevision], ['stale_session', revision]);
    assert.equal((await append('e4', 'new')).status, 400);
    assert.deepEqual(idsIn(await service.getSession(KEY)), ['e1', 'e2']);
  });

  it('pages of events go back from the last one', async () => {
    const { ask, service } = serve();
    const events = ['e1', 'e2', 'e3'].map((id) => ({ id, author: 'user', invocationId: 'i' }));
    await service.createSession({ ...KEY, events });
    const last = (await ask(`${EVENTS}?limit=2`)).body as { before: string; eventCount: number };
    assert.deepEqual([idsIn(last), last.eventCount], [['e2', 'e3'], 3]);
    const before = encodeURIComponent(last.before);
    const first = (await ask(`${EVENTS}?limit=2&before=${before}`)).body;
    assert.deepEqual(idsIn(first), ['e1']);
    assert.equal('before' in (first as object) || 'eventCount' in (first as object), false);
    const counted = (await ask(`${EVENTS}?limit=2&before=${before}&withCount=true`)).body;
    assert.equal((counted as typeof last).eventCount, 3);
    assert.equal((await ask(`${EVENTS}?before=made-up`)).status, 400);
    assert.equal((await ask(`${SESSION}-none/events`)).status, 404);
  });

  it('a session that does not exist gets no events', async () => {
    const { ask } = serve();
    assert.equal((await ask(EVENTS, { body: { events: [eventJson('e1')] } })).status, 404);
  });

  it('anything but a short list of objects is refused', async () => {
    const { ask, service } = serve({ maxEvents: 2 });
    await seed(service);
    for (const events of [
      undefined,
      'e',
      [7],
      [null],
      ['a', 'b', 'c'].map((id) => eventJson(id)),
    ]) {
      const { status } = await ask(EVENTS, { body: { events } });
      assert.equal(status, 400, JSON.stringify(events));
    }
    assert.deepEqual(idsIn(await service.getSession(KEY)), ['e1']);
  });

  it('1,000 events and 8 MiB are the most of a request by default', async () => {
    const { ask, service } = serve();
    await service.createSession(KEY);
    const append = async (count: number, text = 'x') => {
      const events = Array.from({ length: count }, (_, at) => eventJson(`e${at}`, { text }));
      return (await ask(EVENTS, { body: { events } })).status;
    };
    assert.equal(await append(1001), 400);
    assert.equal(await append(1, 'x'.repeat(8 * 2 ** 20)), 413);
    assert.deepEqual(idsIn(await service.getSession(KEY)), []);
    assert.equal(await append(1000), 200);
  });
});

it('The time of an event keeps every digit over HTTP', async () => {
  const { ask, service } = serve();
  await service.createSession(KEY);
  const times = [1741218414.9684057, 1741218414.968405, 1741218415.123457, 1741218416];
  const events = times.map((timestamp, at) => ({ ...eventJson(`e${at}`), timestamp }));
  const append = await ask(EVENTS, { body: { events } });
  const read = await ask(SESSION);
  const page = await ask(EVENTS);
  for (const { body } of [append, read, page]) {
    const shown = (body as { events: { timestamp: number }[] }).events;
    assert.deepEqual(
      shown.map(({ timestamp }) => timestamp),
      times,
    );
  }
  const later = (await ask(`${SESSION}?afterTimestamp=${times[0]}`)).body;
  assert.deepEqual(idsIn(later), ['e0', 'e2', 'e3']);
});

it('A request for a session that does not exist is refused with the code not_found', async () => {
  const { ask } = serve();
  const requests: Parameters<typeof ask>[] = [
    [SESSION],
    [SESSION, { method: 'PATCH', body: { stateDelta: { a: 1 } } }],
    [EVENTS],
    [EVENTS, { body: { events: [eventJson('e1')] } }],
    [`${SESSION}/handle/events`, { body: { events: [eventJson('e1')], stale: 'append' } }],
  ];
  for (const asked of requests) {
    const { status, body } = await ask(...asked);
    assert.deepEqual([status, (body as { code: string }).code], [404, 'not_found']);
  }
});

it('An append of a run over HTTP is refused behind what ended the run, also through a newer handle', async () => {
  const { ask, service } = serve();
  await seed(service);
  const before = (await service.getSession(KEY))!;
  const runRevision = service.revisionOf(before)!;
  const { created } = await service.listChanges({ ...KEY, since: 0 });
  const seal = { id: 's', invocationId: 'i1', author: 'guide', errorCode: 'INVOCATION_ABORTED' };
  await service.appendEvent({ session: before, event: seal });
  const position = { created, revision: service.revisionOf(before) };
  const append = (more: object) =>
    ask(`${SESSION}/handle/events`, {
      body: { events: [eventJson('e9')], stale: 'merge', position, ...more },
    });
  const refused = await append({ runRevision });
  assert.deepEqual(
    [refused.status, (refused.body as { code: string }).code],
    [409, 'stale_session'],
  );
  for (const invalid of [-1, 1.5, '3']) {
    const { status, body } = await append({ runRevision: invalid });
    assert.deepEqual([status, (body as { code: string }).code], [400, 'invalid_argument']);
  }
  const { status, body } = await append({});
  assert.equal(status, 200);
  assert.deepEqual((body as { missed: unknown }).missed, []);
  assert.deepEqual(idsIn(await service.getSession(KEY)), ['e1', 's', 'e9']);
});
