import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { asAdkService } from '../../../../js/service/adk/index.js';
import { isSessionError } from '../../../../js/values/errors/errors.js';
import { rewind } from '../../../../js/core/history/index.js';
import {
  createEventActions,
  type Event,
  type HistoryView,
  InMemorySessionService,
  openSessionService,
  type Session,
} from '../../../../js/index.js';
import { mapStorage } from '../../../../examples/map_storage.js';
import { readVectors } from '../../../interop/history/vectors.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };

const idsOf = (events: readonly Event[] = []): string[] => events.map(({ id }) => id);

async function serviceWith(events: readonly Event[]) {
  const service = new InMemorySessionService();
  const session = await service.createSession(key);
  if (events.length > 0) await service.appendEvents({ session, events: [...events] });
  return service;
}

async function read(
  service: Pick<InMemorySessionService, 'getSession'>,
  view?: HistoryView,
  numRecentEvents?: number,
): Promise<Session> {
  const session = await service.getSession({ ...key, config: { view, numRecentEvents } });
  assert.ok(session);
  return session;
}

const message = (id: string, invocationId: string): Event => ({
  id,
  invocationId,
  author: 'user',
  timestamp: Date.now(),
  content: { role: 'user', parts: [{ text: id }] },
  actions: createEventActions(),
});

describe('getSession with a view', () => {
  it('filters by time after the view', async () => {
    const { events } = readVectors().find(({ name }) => name === 'plain_rewind')!;
    const service = await serviceWith(events);
    const { timestamp: afterTimestamp } = events.find(({ id }) => id === 'i1-a')!;
    const config = { afterTimestamp, view: 'transcript' } as const;
    const session = await service.getSession({ ...key, config });
    assert.deepEqual(idsOf(session?.events), ['i1-a', 'i4-u', 'i4-a']);
    const last = await service.getSession({ ...key, config: { ...config, numRecentEvents: 2 } });
    assert.deepEqual(idsOf(last?.events), ['i4-u', 'i4-a']);
  });

  it('is refused for an unknown view', async () => {
    const service = await serviceWith([]);
    const refused = read(service, 'all' as HistoryView);
    await assert.rejects(refused, (error) => isSessionError(error, 'invalid_argument'));
  });
});

describe('listEvents with a view', () => {
  it('takes the cursor of any stored event, and refuses that of no event', async () => {
    const { events } = readVectors().find(({ name }) => name === 'plain_rewind')!;
    const service = await serviceWith(events);
    const raw = await service.listEvents({ ...key, limit: 4 });
    assert.deepEqual(idsOf(raw.events), ['i3-a', 'r1-rewind', 'i4-u', 'i4-a']);
    const before = await service.listEvents({ ...key, before: raw.before, view: 'transcript' });
    assert.deepEqual(idsOf(before.events), ['i1-u', 'i1-a'], 'before an undone event');
    const first = await service.listEvents({ ...key, after: before.after, view: 'transcript' });
    assert.deepEqual(idsOf(first.events), ['i4-u', 'i4-a']);
    const other = { ...key, sessionId: 's2' };
    await service.createSession(other);
    const foreign = service.listEvents({ ...other, before: raw.before, view: 'model' });
    await assert.rejects(foreign, (error) => isSessionError(error, 'invalid_argument'));
    const unknown = service.listEvents({ ...key, view: 'all' as HistoryView });
    await assert.rejects(unknown, (error) => isSessionError(error, 'invalid_argument'));
    const missing = service.listEvents({ ...key, sessionId: 'none', view: 'model' });
    await assert.rejects(missing, (error) => isSessionError(error, 'not_found'));
  });
});

describe('An empty page of a view', () => {
  it('after the last event has the cursor of its request, from which later events are read', async () => {
    const { events } = readVectors().find(({ name }) => name === 'plain_rewind')!;
    const service = await serviceWith(events);
    for (const view of ['transcript', 'model'] as const) {
      const { after } = await service.listEvents({ ...key, view });
      assert.deepEqual(await service.listEvents({ ...key, after, view }), { events: [], after });
      const id = `later in ${view}`;
      await service.appendEvent({ session: await read(service), event: message(id, id) });
      const later = await service.listEvents({ ...key, after, view });
      assert.deepEqual(idsOf(later.events), [id]);
    }
  });
});

describe('A handle with a view', () => {
  it('gets the view as it is after a late marker, and keeps its objects', async () => {
    const service = await serviceWith(['i1', 'i2', 'i3'].map((id) => message(id, id)));
    const raw = await read(service);
    const handle = await read(service, 'transcript');
    const recent = await read(service, 'transcript', 2);
    const [first] = handle.events;
    const marker = await rewind(service, { ...key, before: { invocationId: 'i2' } });
    await service.appendEvent({ session: raw, event: message('e4', 'i4') });
    const { events } = handle;
    await service.appendEvent({ session: handle, event: message('e5', 'i5') });
    assert.deepEqual(idsOf(handle.events), ['i1', 'e4', 'e5']);
    assert.equal(handle.events, events);
    assert.equal(handle.events[0], first);
    assert.equal(raw.events.length, 5, 'the raw one has the marker');

    const { invocationId } = marker.event;
    await rewind(service, { ...key, before: { invocationId } });
    await service.appendEvent({ session: handle, event: message('e6', 'i6') });
    assert.deepEqual(idsOf(handle.events), ['i1', 'i2', 'i3', 'e6']);
    await service.appendEvent({ session: recent, event: message('e7', 'i7') });
    assert.deepEqual(idsOf(recent.events).slice(-2), ['e6', 'e7']);
    assert.deepEqual(
      idsOf(recent.events),
      ['i1', 'i2', 'i3', 'e6', 'e7'].slice(-recent.events.length),
    );
  });

  it('for models gets a hidden call with its answer, and loses an event whose clock was late', async () => {
    const vectors = new Map(readVectors().map((vector) => [vector.name, vector]));
    for (const [name, last] of [
      ['long_running_answer_after_compaction', 'i1-r1'],
      ['late_event_in_a_summarised_range', 'i2-late'],
    ] as const) {
      const { events, model } = vectors.get(name)!;
      const at = events.findIndex(({ id }) => id === last);
      const service = await serviceWith(events.slice(0, at));
      const handle = await read(service, 'model');
      await service.appendEvents({ session: handle, events: events.slice(at) });
      assert.deepEqual(idsOf(handle.events), model);
    }
  });

  it('of a runner stays as it was read until it is read again', async () => {
    const inner = await serviceWith(['i1', 'i2'].map((id) => message(id, id)));
    const service = asAdkService(inner);
    const session = await service.getSession(key);
    assert.ok(session);
    await rewind(inner, { ...key, before: { invocationId: 'i2' } });
    await service.appendEvent({ session, event: message('e3', 'i3') });
    assert.deepEqual(idsOf(session.events as Event[]), ['i1', 'i2', 'e3']);
    assert.deepEqual(idsOf((await service.getSession(key))?.events as Event[]), ['i1', 'e3']);
  });

  it('has its append stored if the view cannot be read again, and the next append reads it', async () => {
    const storage = { ...mapStorage() };
    const service = await openSessionService({ storage });
    const created = await service.createSession(key);
    const events = ['i1', 'i2'].map((id) => message(id, id));
    await service.appendEvents({ session: created, events });
    const handle = await service.getSession({ ...key, config: { view: 'transcript' } });
    assert.ok(handle);
    await rewind(service, { ...key, before: { invocationId: 'i2' } });
    const { read } = storage;
    storage.read = () => Promise.reject(new Error('no connection'));
    await service.appendEvent({ session: handle, event: message('e3', 'i3') });
    assert.deepEqual(idsOf(handle.events), ['i1', 'i2', 'e3']);
    storage.read = read;
    await service.appendEvent({ session: handle, event: message('e4', 'i4') });
    assert.deepEqual(idsOf(handle.events), ['i1', 'e3', 'e4']);
  });

  it('does not store the summary that it shows', async () => {
    const { events } = readVectors().find(({ name }) => name === 'summary')!;
    const service = await serviceWith(events);
    const handle = await read(service, 'model');
    const [summary] = handle.events;
    assert.equal(summary?.id, 'adk-view:s1');
    assert.equal(await service.appendEvent({ session: handle, event: summary }), summary);
    await service.appendEvents({ session: handle, events: [summary, message('e9', 'i9')] });
    assert.deepEqual(idsOf((await read(service)).events), [...idsOf(events), 'e9']);
  });
});

describe('asAdkService', () => {
  it('reads the view for models, unless the service or the call names another one', async () => {
    const { events, model, transcript } = readVectors().find(({ name }) => name === 'summary')!;
    const inner = await serviceWith(events);
    const service = asAdkService(inner);
    assert.deepEqual(idsOf((await service.getSession(key))?.events), model);
    assert.deepEqual(idsOf((await service.getOrCreateSession(key)).events), model);
    assert.deepEqual(idsOf((await read(service as never, 'transcript')).events), transcript);
    assert.deepEqual(idsOf((await read(service as never, 'raw')).events), idsOf(events));
    const raw = asAdkService(inner, { view: 'raw' });
    assert.deepEqual(idsOf((await raw.getSession(key))?.events), idsOf(events));
    assert.deepEqual(idsOf((await inner.getOrCreateSession(key)).events), idsOf(events));
    assert.throws(
      () => asAdkService(inner, { view: 'all' as HistoryView }),
      (error) => isSessionError(error, 'invalid_argument'),
    );
  });

  it('reads its end with the option numRecentEvents', async () => {
    const { events, model } = readVectors().find(({ name }) => name === 'nested_rewinds')!;
    const inner = new InMemorySessionService();
    const session = await inner.createSession(key);
    await inner.appendEvents({ session, events: [...events] });
    const shown = await asAdkService(inner, { numRecentEvents: 2 }).getSession(key);
    assert.deepEqual(idsOf(shown?.events), model.slice(-2));
  });
});
