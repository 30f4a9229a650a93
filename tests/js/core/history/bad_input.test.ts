// Unknown ids and wrong types, and histories of other programs that contradict themselves.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { mapStorage } from '../../../../examples/map_storage.js';
import { isSessionError } from '../../../../js/values/errors/errors.js';
import {
  branches,
  fork,
  historyView,
  rewind,
  stateAt,
  switchBranch,
  undoRewind,
} from '../../../../js/core/history/index.js';
import { viewOf } from '../../../../js/core/history/rules/view.js';
import {
  createEventActions,
  type Event,
  InMemorySessionService,
  openSessionService,
  type SessionService,
} from '../../../../js/index.js';
import type { Storage } from '../../../../js/core/storage/storage.js';
import { runs } from '../../../properties.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };

/** Each function with values in the place of an id. */
const CALLS: Readonly<Record<string, (service: SessionService, id: never) => Promise<unknown>>> = {
  'rewind by invocation': (service, invocationId) =>
    rewind(service, { ...key, before: { invocationId } }),
  'rewind by event': (service, eventId) => rewind(service, { ...key, before: { eventId } }),
  'rewind by place': (service, before) => rewind(service, { ...key, before }),
  'rewind in session': (service, sessionId) =>
    rewind(service, { ...key, sessionId, before: { invocationId: 'i1' } }),
  switchBranch: (service, branch) => switchBranch(service, { ...key, branch }),
  'undoRewind in session': (service, sessionId) => undoRewind(service, { ...key, sessionId }),
  'branches of session': (service, sessionId) => branches(service, { ...key, sessionId }),
  stateAt: (service, eventId) => stateAt(service, { ...key, eventId }),
  'stateAt in session': (service, sessionId) =>
    stateAt(service, { ...key, sessionId, eventId: 'e1' }),
  'fork at event': (service, eventId) => fork(service, { ...key, at: { eventId } }),
  'fork before invocation': (service, invocationId) =>
    fork(service, { ...key, before: { invocationId } }),
  'fork at place': (service, at) => fork(service, { ...key, at }),
  'fork of session': (service, sessionId) =>
    fork(service, { ...key, sessionId, at: { eventId: 'e1' } }),
};

describe('Values in the place of an id', () => {
  it('that are unknown or of a wrong type are typed errors, and nothing is written', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ ...key, state: { initial: 1 } });
    const actions = createEventActions({ stateDelta: { initial: 2 } });
    await service.appendEvent({
      session,
      event: { id: 'e1', invocationId: 'i1', author: 'user', actions },
    });
    const before = JSON.stringify(await service.getSession(key));
    const values = [
      ...['none', '', '__proto__', 'constructor', '\ud800', 'x'.repeat(600)],
      ...[undefined, null, 0, NaN, true, {}, [], ['i1'], Symbol('i1'), 1n],
      ...[{ invocationId: 'none' }, { eventId: undefined }, Promise.resolve('i1')],
    ];
    for (const [name, call] of Object.entries(CALLS)) {
      for (const value of values) {
        await assert.rejects(
          call(service, value as never),
          (error) =>
            isSessionError(error) && ['not_found', 'invalid_argument'].includes(error.code),
          `${name} ${typeof value}`,
        );
      }
    }
    assert.equal(JSON.stringify(await service.getSession(key)), before);
    assert.equal((await service.listSessions({ appName: 'shop' })).sessions.length, 1);
  });

  it('refuses a request or a service of a wrong type with a typed error', async () => {
    const service = new InMemorySessionService();
    for (const call of [rewind, switchBranch, undoRewind, branches, stateAt, fork]) {
      for (const value of [undefined, null, 1, 'key', []]) {
        const invalid = (error: unknown) => isSessionError(error, 'invalid_argument');
        await assert.rejects(call(service, value as never), invalid);
        await assert.rejects(call(value as never, key as never), invalid);
      }
    }
  });
});

const invocation = fc.constantFrom('i1', 'i2', 'i3', '', null, 7, {}, undefined, '__proto__');
const number = fc.constantFrom(0, 1, 2, 3, -1, 1e308, 'two', null, undefined, {});
const callId = fc.constantFrom('c1', 'c2', '', null, 5, undefined);
const part = fc.oneof(
  fc.constantFrom(null, 1, 'text', {}, [], { text: 'hm' }, { text: 5 }, { functionCall: null }),
  fc.record({ functionCall: fc.record({ id: callId, name: invocation }) }),
  fc.record({ functionResponse: fc.record({ id: callId, name: invocation }) }),
);
const content = fc.oneof(
  fc.constantFrom(null, undefined, 'text', 5, [], {}, { parts: null }, { parts: 'text' }),
  fc.record({ role: fc.constantFrom('user', 'model', 5, ''), parts: fc.array(part) }),
);
const compaction = fc.oneof(
  fc.constantFrom(null, 'all', [], {}),
  fc.record({ startTimestamp: number, endTimestamp: number, compactedContent: content }),
);
const delta = fc.constantFrom(
  null,
  undefined,
  'a',
  [],
  {},
  { a: 1 },
  { a: null },
  { b: { c: [] } },
);
const actions = fc.oneof(
  fc.constantFrom(null, undefined, 'text', 5, [], {}),
  fc.record({ stateDelta: delta, rewindBeforeInvocationId: invocation }),
  fc.record({ stateDelta: delta, compaction }),
);
/** Members of an event as another program may have stored them. */
const members = fc.record({
  invocationId: invocation,
  author: fc.constantFrom('user', 'guide', '', null, 5),
  timestamp: number,
  branch: fc.constantFrom(undefined, null, 'root', 'root.child', 'root.tool@c1', 5, {}),
  isolationScope: fc.constantFrom(undefined, null, 'task', 5),
  nodeInfo: fc.constantFrom(undefined, null, { path: 'a' }, 5),
  customMetadata: fc.constantFrom(undefined, null, 5),
  isCompacted: fc.constantFrom(undefined, true, 'yes'),
  endTime: number,
  content,
  actions,
});
const histories = fc.array(members, { maxLength: 12 });

/** A service over a storage whose events are replaced by those of another program. */
async function serviceWith(history: readonly object[]): Promise<SessionService> {
  const storage: Storage = mapStorage();
  const texts = new Map(
    history.map((event, at) => [`e${at}`, JSON.stringify({ id: `e${at}`, ...event })]),
  );
  const { read } = storage;
  storage.read = async (request) => {
    const rows = await read.call(storage, request);
    const events = rows.events.map((row) => ({ ...row, text: texts.get(row.id) ?? row.text }));
    return { ...rows, events };
  };
  const service = await openSessionService({ storage });
  const session = await service.createSession({ ...key, state: { a: 0 } });
  const events = history.map((_, at) => ({ id: `e${at}`, invocationId: '', timestamp: at }));
  if (events.length > 0) await service.appendEvents({ session, events });
  return service;
}

describe('Histories that contradict themselves', () => {
  it('are read without an error, in each view and by each function', async () => {
    const check = async (history: readonly object[]): Promise<void> => {
      const service = await serviceWith(history);
      const ids = history.map((_, at) => `e${at}`);
      for (const view of ['raw', 'transcript', 'model'] as const) {
        for (const numRecentEvents of [undefined, 0, 1, 20]) {
          const session = await service.getSession({ ...key, config: { view, numRecentEvents } });
          const shown = session?.events.map(({ id }) => id.replace('adk-view:', '')) ?? [];
          assert.ok(shown.every((id) => ids.includes(id)));
          assert.equal(new Set(shown).size, shown.length);
        }
        for (const order of ['asc', 'desc'] as const) {
          const pages = service.events({ ...key, view, order, limit: 2 });
          for await (const { id } of pages) assert.equal(typeof id, 'string');
        }
      }
      await branches(service, key);
      for (const eventId of ids) {
        const { state } = await stateAt(service, { ...key, eventId });
        assert.ok(Object.keys(state).every((name) => ['a', 'b'].includes(name)));
      }
      const { events } = (await service.getSession(key))!;
      for (const branch of [undefined, 'root', 'root.child']) {
        historyView(events, { agentName: 'guide', branch });
        historyView(events, { agentName: 'guide', branch, isolationScope: 'task' });
      }
    };
    await fc.assert(fc.asyncProperty(histories, check), runs(300));
  });

  it('are rewound and forked, or refused by a typed error that has written nothing', async () => {
    const check = async (history: readonly object[], at: number): Promise<void> => {
      const service = await serviceWith(history);
      const place = { eventId: `e${at}` };
      const before = JSON.stringify(await service.getSession(key));
      const count = async () => (await service.listSessions({ appName: 'shop' })).sessions.length;
      await fork(service, { ...key, at: place }).catch(async (error: unknown) => {
        assert.ok(isSessionError(error), String(error));
        assert.equal(await count(), 1);
      });
      assert.equal(JSON.stringify(await service.getSession(key)), before);
      for (const change of [
        () => rewind(service, { ...key, before: place }),
        () => undoRewind(service, key),
      ]) {
        const { events } = (await service.getSession(key))!;
        const isDone = await change().then(
          () => true,
          (error: unknown) => {
            assert.ok(isSessionError(error), String(error));
            return false;
          },
        );
        const after = (await service.getSession(key))!.events;
        assert.equal(after.length, events.length + (isDone ? 1 : 0));
      }
    };
    await fc.assert(fc.asyncProperty(histories, fc.nat(12), check), runs(300));
  });

  it('have malformed markers as ordinary events', () => {
    const stored = [
      { id: 'e0', actions: { rewindBeforeInvocationId: { not: 'a text' } } },
      { id: 'e1', actions: { compaction: { startTimestamp: 'a', endTimestamp: 'b' } } },
      { id: 'e2', isCompacted: 'yes', endTime: 5 },
      { id: 'e3', actions: null, content: 'text' },
    ];
    for (const view of ['transcript', 'model'] as const) {
      assert.deepEqual(viewOf(stored as unknown as Event[], view).events, stored);
    }
  });

  it('a marker of an unknown invocation, of itself or of a later one undoes nothing', () => {
    const marker = (id: string, rewindBeforeInvocationId: string) =>
      ({
        id,
        invocationId: id,
        timestamp: 0,
        actions: { rewindBeforeInvocationId },
      }) as unknown as Event;
    const plain = (id: string) => ({ id, invocationId: id, timestamp: 0 }) as Event;
    const events = [
      plain('a'),
      marker('m1', 'none'),
      marker('m2', 'm2'),
      marker('m3', 'b'),
      plain('b'),
    ];
    for (const view of ['transcript', 'model'] as const) {
      assert.deepEqual(
        viewOf(events, view).events.map(({ id }) => id),
        ['a', 'b'],
      );
    }
  });
});
