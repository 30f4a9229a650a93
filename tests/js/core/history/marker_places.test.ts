// The places of markers that memory keeps: it finds these events without reading the history.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Event, Session } from '../../../../js/index.js';
import { ServiceCore } from '../../../../js/service/service_core.js';
import { StoredSessionService } from '../../../../js/service/stored_session_service.js';
import type { Call } from '../../../../js/core/call/call.js';
import type { MaybePromise } from '../../../../js/core/storage/wasm/maybe_promise.js';
import type { WindowRequest, ReadSession } from '../../../../js/core/read.js';
import { WasmStore } from '../../../../js/core/storage/wasm/wasm_store.js';
import { parseTexts } from '../../../../js/core/storage/stored_events.js';
import { createMemoryStorage } from '../../../../js/core/wasm/all.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };

function open() {
  const wholeReads: unknown[] = [];
  class CountingStore extends WasmStore {
    override window(request: WindowRequest, call: Call): MaybePromise<ReadSession | undefined> {
      if (request.last === undefined) wholeReads.push(request.key);
      return super.window(request, call);
    }
  }
  const store = new CountingStore(createMemoryStorage(), {
    holdsData: true,
    parse: (texts) => parseTexts(texts as readonly string[]),
  });
  const storage = { kind: 'memory', durable: false } as const;
  const parts = { storage, traits: { isSynchronous: true }, openStore: () => store };
  const service = new StoredSessionService(new ServiceCore(parts, {}));
  const marked = async (eventId?: string) =>
    (await store.markers({ key, eventId }, {}))?.events.map(({ id }) => id);
  return { service, marked, wholeReads };
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

describe('The places of markers', () => {
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

describe('A page of a view', () => {
  const [page, last] = [{ ...key, limit: 2 }, { numRecentEvents: 1 }] as const;
  const idsOf = ({ events }: { readonly events: readonly Event[] }) => events.map(({ id }) => id);

  for (const view of ['transcript', 'model'] as const) {
    it(`of the ${view} without markers is read as it is stored`, async () => {
      const { service, wholeReads } = await filled();
      const newest = await service.listEvents({ ...page, view });
      assert.deepEqual([idsOf(newest), newest.eventCount], [['e3', 'e4'], 4]);
      const before = await service.listEvents({ ...page, view, before: newest.before! });
      assert.deepEqual([idsOf(before), before.before], [['e1', 'e2'], undefined]);
      const after = await service.listEvents({ ...page, view, after: before.after! });
      assert.deepEqual(idsOf(after), ['e3', 'e4']);
      const session = await service.getSession({ ...key, config: { ...last, view } });
      assert.equal(await service.loadOlder(session!, 2), true);
      assert.deepEqual(idsOf(session!), ['e2', 'e3', 'e4']);
      assert.equal(wholeReads.length, 0);
    });
  }

  it('before an event is read with the markers, and its count from the whole history', async () => {
    const { service, session, wholeReads } = await filled();
    await append(service, session, rewind('m1', 'i3'), event('e5', 'i5'), event('e6', 'i6'));
    const newest = await service.getSession({ ...key, config: { ...last, view: 'transcript' } });
    assert.equal(await service.loadOlder(newest!, 2), true);
    assert.deepEqual(idsOf(newest!), ['e3', 'e5', 'e6']);
    assert.equal(wholeReads.length, 0);
    const counted = await service.listEvents({ ...page, view: 'transcript' });
    assert.deepEqual([idsOf(counted), counted.eventCount], [['e5', 'e6'], 5]);
    assert.equal(wholeReads.length, 1);
  });
});

describe('The end of a view for models', () => {
  const pay = { functionCall: { id: 'c1', name: 'pay', args: {} } };
  const paid = { functionResponse: { id: 'c1', name: 'pay', response: {} } };
  const said = (id: string, invocationId: string, timestamp: number, rest: object = {}): Event => {
    const content = { role: 'model', parts: [{ text: id }] };
    return event(id, invocationId, { author: 'agent', timestamp, content, ...rest });
  };
  const call = { content: { role: 'model', parts: [pay] }, longRunningToolIds: ['c1'] };
  const answer = { author: 'user', content: { role: 'user', parts: [paid] } };
  const compactedContent = { role: 'model', parts: [{ text: 'tea' }] };
  const range = { startTimestamp: 1500, endTimestamp: 1502, compactedContent };
  const compaction = said('sum', 'j1', 1600, { actions: { compaction: range } });
  const turns = Array.from({ length: 400 }, (_, turn) => said(`t${turn}`, `i${turn}`, 100 + turn));
  const later = ['l0', 'l1', 'l2'].map((id, at) => said(id, 'run', 1500 + at));

  it('has what a compaction covers of an invocation that waits since long ago, until the answer', async () => {
    const { service, marked, wholeReads } = open();
    const session = await service.createSession(key);
    const shown = async (): Promise<string[]> => {
      const config = { view: 'model', numRecentEvents: 4 } as const;
      return (await service.getSession({ ...key, config }))!.events.map(({ id }) => id);
    };
    const events = [said('call', 'run', 99, call), ...turns, ...later, compaction];
    await service.appendEvents({ session, events });
    assert.deepEqual(await marked(), ['call', 'sum']);
    const waiting = ['adk-view:sum', ...later.map(({ id }) => id)];
    for (const reads of ['first', 'later']) assert.deepEqual(await shown(), waiting, reads);
    await service.appendEvent({ session, event: said('paid', 'k1', 1700, answer) });
    // The window begins with the call of the response.
    const answered = ['call', ...turns.map(({ id }) => id), 'adk-view:sum', 'paid'];
    assert.deepEqual(await shown(), answered);
    await service.appendEvent({ session, event: rewind('r1', 'k1') });
    assert.deepEqual(await shown(), waiting);
    assert.deepEqual(wholeReads, []);
  });
});
