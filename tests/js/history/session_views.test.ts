import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { asAdkService } from '../../../js/adk/index.js';
import { isSessionError } from '../../../js/errors/errors.js';
import { rewind } from '../../../js/history/index.js';
import {
  createEventActions,
  type Event,
  type HistoryView,
  InMemorySessionService,
  type Session,
} from '../../../js/index.js';
import { readVectors } from '../../interop/history/vectors.js';

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
  for (const { name, events, transcript, model } of readVectors()) {
    it(`counts its windows after the view: ${name}`, async () => {
      const service = await serviceWith(events);
      const shown = { raw: idsOf(events), transcript, model };
      for (const view of ['raw', 'transcript', 'model'] as const) {
        const all = shown[view];
        assert.deepEqual(idsOf((await read(service, view)).events), all);
        for (const count of [0, 1, 2, 20]) {
          const { events } = await read(service, view, count);
          assert.deepEqual(idsOf(events), count === 0 ? [] : all.slice(-count), `${view} ${count}`);
        }
      }
    });
  }

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

describe('A handle with a view', () => {
  it('gets no marker of others, and their other events', async () => {
    const service = await serviceWith([message('e1', 'i1'), message('e2', 'i2')]);
    const raw = await read(service);
    const handle = await read(service, 'transcript');
    await rewind(service, { ...key, before: { invocationId: 'i2' } });
    await service.appendEvent({ session: raw, event: message('e3', 'i3') });
    await service.appendEvent({ session: handle, event: message('e4', 'i4') });
    assert.ok(idsOf(handle.events).includes('e3'));
    assert.ok(handle.events.every(({ actions }) => !('rewindBeforeInvocationId' in actions)));
    assert.equal(raw.events.length, 4, 'the raw one has the marker');
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

  it('reads it with the option history, too', async () => {
    const { events, model } = readVectors().find(({ name }) => name === 'nested_rewinds')!;
    const inner = new InMemorySessionService({ history: { numRecentEvents: 2 } });
    const session = await inner.createSession(key);
    await inner.appendEvents({ session, events: [...events] });
    const shown = await asAdkService(inner).getSession(key);
    assert.deepEqual(idsOf(shown?.events), model.slice(-2));
  });
});
