import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { ReadPage } from '../../../../js/core/read.js';
import type { Event } from '../../../../js/index.js';
import { eventJson, idsIn, KEY, seed, serve, SESSION, SESSIONS } from '../fixture.js';

const EVENTS = `${SESSION}/events`;

describe('Events over HTTP', () => {
  it('events are appended in order, and the response has their places and the new revision', async () => {
    const { ask, service } = serve();
    await seed(service);
    const events = [eventJson('e2', { turn: 2, 'user:name': 'Ada' }), eventJson('e3')];
    const { status, body } = await ask(EVENTS, { body: { events } });
    assert.equal(status, 200);
    const appended = body as { eventRevisions: { seq: number }[]; revision: number };
    const stored = (await service.getSession(KEY))!;
    assert.deepEqual(idsIn(stored), ['e1', 'e2', 'e3']);
    assert.deepEqual(stored.state, { topic: 'tea', turn: 2, 'user:name': 'Ada' });
    assert.equal(stored.events[1]?.timestamp, events[0]!.timestamp);
    const revision = service.revisionOf(stored)!;
    assert.equal(appended.revision, revision);
    assert.deepEqual(
      appended.eventRevisions.map(({ seq }) => seq),
      [revision - 1, revision],
    );
  });

  it('an append that is sent again is stored once', async () => {
    const { ask, service } = serve();
    await seed(service);
    const body = { events: [eventJson('e2', { turn: 2 })] };
    const eventRevisions = [];
    for (let sent = 0; sent < 2; sent += 1) {
      eventRevisions.push(
        ((await ask(EVENTS, { body })).body as { eventRevisions: object }).eventRevisions,
      );
    }
    assert.deepEqual(eventRevisions[1], eventRevisions[0]);
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

  it('the response has the ids and the times of the events if one comes without', async () => {
    const { ask, service } = serve();
    await seed(service);
    const { id, timestamp, ...event } = eventJson('e2');
    const { body } = await ask(EVENTS, { body: { events: [event, { ...event, partial: true }] } });
    const stored = (await service.getSession(KEY))!.events.slice(1);
    assert.equal(stored.length, 1);
    const filled = stored.map(({ id, timestamp }) => ({ id, timestamp }));
    assert.deepEqual((body as { filled: unknown }).filled, filled);
    const whole = await ask(EVENTS, { body: { events: [{ ...event, id, timestamp }] } });
    assert.equal('filled' in (whole.body as object), false);
  });

  it('a client without rights appends beside events that are not stored, and is told of what is stored alone', async () => {
    const { ask, service } = serve({ authorize: () => true });
    await seed(service);
    const { id, ...event } = eventJson('e2');
    const partial = { ...eventJson('p1'), partial: true };
    const summary = { ...eventJson('s1'), id: 'adk-view:s1' };
    const { status, body } = await ask(EVENTS, { body: { events: [partial, summary, event] } });
    assert.equal(status, 200);
    const [, stored] = (await service.getSession(KEY))!.events;
    const filled = [{ id: stored!.id, timestamp: stored!.timestamp }];
    assert.notEqual(stored!.id, id);
    assert.deepEqual((body as { filled: unknown }).filled, filled);
    const none = await ask(EVENTS, { body: { events: [partial, summary] } });
    assert.equal((none.body as { key: string }).key, 'events');
  });

  it('the events of a handle that its client holds are told with what the handle lacks', async () => {
    const { ask, service } = serve();
    await seed(service);
    const { created, revision } = await service.listChanges({ ...KEY, since: 0 });
    const append = async (position: object | undefined, id: string) => {
      const body = { events: [eventJson(id)], stale: 'merge', position };
      return (await ask(EVENTS, { body })).body as { missed: { text: string }[] };
    };
    const texts = async (position: object | undefined, id: string) =>
      (await append(position, id)).missed.map(({ text }) => (JSON.parse(text) as Event).id);
    assert.deepEqual(await texts(undefined, 'e2'), []);
    assert.deepEqual(await texts({ created, revision }, 'e3'), ['e2']);
    assert.deepEqual(await texts({ lastEventId: 'e2' }, 'e4'), ['e3']);
    // A member that is null is absent.
    assert.deepEqual(await texts({ created: null, lastEventId: 'e3' }, 'e5'), ['e4']);
  });

  it('a name in the casing of Python is refused, and a time in seconds is none', async () => {
    const { ask, service } = serve();
    await seed(service);
    const body = { events: [eventJson('e2')], expected_revision: 1 };
    assert.equal((await ask(EVENTS, { body })).status, 400);
    assert.equal((await ask(EVENTS, { body: { events: body.events } })).status, 200);
    const { events } = (await ask(EVENTS)).body as { events: Event[] };
    assert.equal(events[1]?.timestamp, body.events[0]!.timestamp);
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
    const page = async (query: string) => (await ask(`${EVENTS}?limit=2${query}`)).body as ReadPage;
    const last = await page('');
    assert.deepEqual([idsIn(last), last.hasOlder, last.eventCount], [['e2', 'e3'], true, 3]);
    const first = await page('&eventId=e2');
    assert.deepEqual([idsIn(first), first.hasOlder], [['e1'], false]);
    assert.equal((await page('&eventId=e2&withCount=true')).eventCount, 3);
    assert.deepEqual(idsIn(await page('&eventId=e1&direction=after')), ['e2', 'e3']);
    assert.equal((await page('&eventId=made-up')).events, undefined);
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

it('The time of an event keeps every digit over HTTP, in seconds or in milliseconds', async () => {
  const { ask } = serve();
  const times = [1741218414.9684057, 1741218414.968405, 1741218415.123457, 1741218416];
  const events = times.map((timestamp, at) => ({ ...eventJson(`e${at}`), timestamp }));
  const created = await ask(SESSIONS, { body: { sessionId: 's1', events } });
  const read = await ask(SESSION);
  const timesIn = ({ body }: { body: unknown }) =>
    (body as { events: { timestamp: number }[] }).events.map(({ timestamp }) => timestamp);
  for (const answer of [created, read]) assert.deepEqual(timesIn(answer), times);
  const page = await ask(EVENTS);
  const milliseconds = [1741218414968.4058, 1741218414968.405, 1741218415123.457, 1741218416000];
  assert.deepEqual(timesIn(page), milliseconds);
  const { events: own } = page.body as { events: object[] };
  assert.equal((await ask(EVENTS, { body: { events: own } })).status, 200);
  assert.deepEqual(timesIn(await ask(SESSION)), times);
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
  const endEvent = {
    id: 's',
    invocationId: 'i1',
    author: 'guide',
    errorCode: 'INVOCATION_ABORTED',
  };
  await service.appendEvent({ session: before, event: endEvent });
  const position = { created, revision: service.revisionOf(before) };
  const append = (more: object) =>
    ask(`${SESSION}/events`, {
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
