// The marks that memory keeps: which events it finds without reading the history.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Event, Session } from '../../../js/index.js';
import { ServiceCore } from '../../../js/service/service_core.js';
import { StoredSessionService } from '../../../js/service/stored_session_service.js';
import { CoreBackend } from '../../../js/storage/core/core_backend.js';
import { parseTexts } from '../../../js/storage/stored_events.js';
import { createMemoryCore } from '../../../js/wasm/core.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };

function open() {
  const backend = new CoreBackend(createMemoryCore(), {
    holdsData: true,
    parse: (texts) => parseTexts(texts as readonly string[]),
  });
  const storage = { kind: 'memory', durable: false } as const;
  const parts = { storage, isSynchronous: true, openBackend: () => backend };
  const service = new StoredSessionService(new ServiceCore(parts, {}));
  const marked = async (eventId?: string) =>
    (await backend.markers({ key, eventId }))?.events.map(({ id }) => id);
  return { service, marked };
}

function event(id: string, invocationId: string, rest: object = {}): Event {
  return { id, invocationId, author: 'user', timestamp: 1, ...rest } as Event;
}

const rewind = (id: string, target: string): Event =>
  event(id, `of ${id}`, { actions: { rewindBeforeInvocationId: target } });

const FIRST = [event('e1', 'i1'), event('e2', 'i2'), event('e3', 'i2'), event('e4', 'i3')];

async function filled() {
  const opened = open();
  const session = await opened.service.createSession(key);
  await opened.service.appendEvents({ session, events: FIRST });
  return { ...opened, session };
}

async function append(service: StoredSessionService, session: Session, ...events: Event[]) {
  for (const event of events) await service.appendEvent({ session, event });
}

describe('Marks', () => {
  it('are the markers, and the first events of the invocations that they rewind', async () => {
    const { service, session, marked } = await filled();
    assert.deepEqual(await marked(), []);
    await append(service, session, rewind('m1', 'i2'), event('e5', 'i2'));
    await append(service, session, event('m2', 'i5', { isCompacted: true, endTime: 1 }));
    await append(service, session, rewind('m3', 'missing'), event('e6', 'i6'));
    assert.deepEqual(await marked(), ['e2', 'm1', 'm2', 'm3']);
    assert.deepEqual(await marked('e4'), ['e2', 'e4', 'm1', 'm2', 'm3']);
    assert.equal(await marked('missing'), undefined);
  });

  it('survive a replacement that keeps the invocation, and follow one that becomes a marker', async () => {
    const { service, session, marked } = await filled();
    await append(service, session, rewind('m1', 'i2'));
    await append(service, session, event('e2', 'i2', { author: 'bot' }));
    assert.deepEqual(await marked(), ['e2', 'm1']);
    const compaction = { startTimestamp: 0, endTimestamp: 1, compactedContent: {} };
    await append(service, session, event('e4', 'i3', { actions: { compaction } }));
    assert.deepEqual(await marked(), ['e2', 'e4', 'm1']);
  });

  it('are unknown once an event got another invocation, if there is a marker', async () => {
    const { service, session, marked } = await filled();
    await append(service, session, event('e2', 'i1'));
    assert.deepEqual(await marked(), []);
    await append(service, session, rewind('m1', 'i2'));
    assert.deepEqual(await marked(), ['e3', 'm1']);
    await append(service, session, event('e3', 'i9'));
    assert.equal(await marked(), undefined);
  });

  it('end with their session, and begin with the events of another one', async () => {
    const { service, session, marked } = await filled();
    await append(service, session, rewind('m1', 'i2'));
    await service.deleteSession(key);
    assert.equal(await marked(), undefined);
    await service.createSession(key);
    assert.deepEqual(await marked(), []);
    await service.deleteSession(key);
    const events = [...FIRST, rewind('m1', 'i3'), rewind('m2', 'i2')];
    await service.createSession({ ...key, events });
    assert.deepEqual(await marked(), ['e2', 'e4', 'm1', 'm2']);
  });
});
