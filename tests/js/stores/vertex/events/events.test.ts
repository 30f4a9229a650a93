// Events: their order, their windows, their new versions, and events of other clients.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { createEvent, type Event, type Session } from '../../../../../js/index.js';
import { createEventActions } from '../../../../../js/values/model/event/create_event.js';
import type { VertexAiOptions } from '../../../../../js/service/vertex/index.js';
import {
  ENGINE,
  startVertexServer,
  type VertexServer,
  type VertexServerOptions,
} from '../../../../vertex_server/server.js';
import { EVENT_OF_GO, GO_EVENT } from '../../../service/files/go_event.js';
import { KEY, post, serviceOn } from '../service.js';

const NOW = 1_770_000_000_000;

const ids = (session: Session | undefined): string[] => (session?.events ?? []).map(({ id }) => id);
const event = (id: string, timestamp = NOW, more: Partial<Event> = {}): Event =>
  createEvent({ id, timestamp, author: 'agent', invocationId: 'i', ...more });

describe('Events at Vertex AI', () => {
  let server: VertexServer;
  beforeEach(async () => {
    server = await startVertexServer({ pageSize: 3, clock: () => NOW });
  });
  afterEach(() => server.end());
  const restart = async (options: VertexServerOptions): Promise<void> => {
    await server.end();
    server = await startVertexServer(options);
  };
  const open = (options: VertexAiOptions = {}) =>
    serviceOn(server, { clock: () => NOW, ...options });

  it('are read from all pages, in append order, whatever their timestamps', async () => {
    const service = open();
    const session = await service.createSession(KEY);
    const times = [NOW, NOW - 5000, NOW + 9000, NOW, 0, NOW - 1, NOW + 1];
    for (const [number, time] of times.entries()) {
      await service.appendEvent({ session, event: event(`e${number}`, time) });
    }
    const read = await service.getSession(KEY);
    assert.deepEqual(read?.events, session.events);
    assert.deepEqual(ids(read), ['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6']);
  });

  it('are posted with their own times if these are later than all before', async () => {
    const service = open();
    const session = await service.createSession(KEY);
    for (const time of [NOW + 100.25, NOW + 50, NOW + 200]) {
      await service.appendEvent({ session, event: event(`e${time}`, time) });
    }
    const posted = server.events('s1').map(({ timestamp }) => timestamp);
    const day = new Date(NOW).toISOString().slice(0, 17);
    assert.deepEqual(posted, [`${day}00.100250Z`, `${day}00.100251Z`, `${day}00.200Z`]);
  });

  for (const ordersEvents of [true, false]) {
    const how = ordersEvents ? 'the newest ones alone' : 'all, where the server lists no other way';
    it(`are read in windows with ${how}`, async () => {
      await restart({ pageSize: 3, clock: () => NOW, ordersEvents });
      const service = open();
      const session = await service.createSession(KEY);
      for (let number = 0; number < 10; number += 1) {
        await service.appendEvent({ session, event: event(`e${number}`, NOW + number) });
      }
      const window = async (numRecentEvents?: number, afterTimestamp?: number) => {
        const config = {
          ...(numRecentEvents !== undefined && { numRecentEvents }),
          ...(afterTimestamp !== undefined && { afterTimestamp }),
        };
        return ids(await service.getSession({ ...KEY, config }));
      };
      assert.deepEqual(await window(0), []);
      assert.deepEqual(await window(2), ['e8', 'e9']);
      assert.deepEqual(await window(5), ['e5', 'e6', 'e7', 'e8', 'e9']);
      assert.equal((await window(99)).length, 10);
      assert.deepEqual(await window(undefined, NOW + 7), ['e7', 'e8', 'e9']);
      assert.deepEqual(await window(2, NOW + 3), ['e8', 'e9']);
      assert.deepEqual(await window(undefined, NOW + 99), []);
      server.forget();
      await window(2);
      const lists = server.calls.filter((call) => call === 'events.list').length;
      assert.equal(lists, ordersEvents ? 1 : 5);
    });
  }

  it('are found after an empty first page', async () => {
    await restart({ beginsEmpty: true, clock: () => NOW });
    const service = open({ stale: 'reject' });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: event('e1') });
    assert.deepEqual(ids(await service.getSession(KEY)), ['e1']);
    const late = await service.getSession({ ...KEY, config: { afterTimestamp: NOW + 99 } });
    assert.deepEqual(ids(late), []);
    assert.ok(late);
    await service.appendEvent({ session: late, event: event('e2') });
    assert.deepEqual(ids(await service.getSession(KEY)), ['e1', 'e2']);
  });

  it('are appended to a handle with an empty window', async () => {
    const service = open();
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: event('e1') });
    const empty = await service.getSession({ ...KEY, config: { numRecentEvents: 0 } });
    assert.ok(empty);
    await service.appendEvent({ session: empty, event: event('e2') });
    assert.deepEqual(ids(empty), ['e2']);
  });

  it('appended together keep their own times and their order', async () => {
    const service = open({ clock: () => NOW + 20_000 });
    const session = await service.createSession(KEY);
    const events = [event('a', NOW + 5000), event('b', NOW + 9000), event('c', NOW + 7000)];
    await service.appendEvents({ session, events: [...events, event('a', NOW + 9500)] });
    const posted = server.events('s1').map(({ timestamp }) => Date.parse(String(timestamp)) - NOW);
    assert.deepEqual(posted, [5000, 9000, 9000, 9500]);
    const read = await service.getSession(KEY);
    assert.deepEqual(ids(read), ['a', 'b', 'c']);
    assert.equal(read?.events[0]?.timestamp, NOW + 9500);
    await open({ stale: 'reject' }).appendEvent({ session: read, event: event('d', NOW) });
    assert.deepEqual(ids(await service.getSession(KEY)), ['a', 'b', 'c', 'd']);
  });

  it('replace older versions in their positions, in every window', async () => {
    const service = open();
    const session = await service.createSession(KEY);
    for (const id of ['a', 'b', 'c', 'd']) {
      await service.appendEvent({ session, event: event(id) });
    }
    await service.appendEvent({ session, event: event('a', NOW, { author: 'editor' }) });
    assert.equal(server.events('s1').length, 5);
    const read = await service.getSession(KEY);
    assert.deepEqual(ids(read), ['a', 'b', 'c', 'd']);
    assert.equal(read?.events[0]?.author, 'editor');
    const last = await service.getSession({ ...KEY, config: { numRecentEvents: 2 } });
    assert.deepEqual(ids(last), ['c', 'd']);
  });

  it('can replace an event with a later timestamp', async () => {
    let now = NOW;
    const service = open({ clock: () => now });
    const session = await service.createSession(KEY);
    for (const id of ['a', 'b', 'c', 'd']) {
      now += 60_000;
      await service.appendEvent({ session, event: event(id, now) });
    }
    now += 60_000;
    await service.appendEvent({ session, event: event('a', now) });
    const last = await service.getSession({ ...KEY, config: { numRecentEvents: 2 } });
    assert.deepEqual(ids(last), ['c', 'd']);
    const handle = await open().getSession(KEY);
    assert.deepEqual(ids(handle), ['a', 'b', 'c', 'd']);
  });

  it('of another program are replaced in their positions after an append delivered them', async () => {
    let now = NOW;
    const service = open({ clock: () => now });
    const session = await service.createSession(KEY);
    const timestamp = new Date(NOW + 30_000).toISOString();
    // At one moment: where the second stands is no time that it was posted at.
    for (const id of ['first', 'a']) {
      const theirs = { author: 'other', invocationId: 'i', timestamp, rawEvent: { id } };
      await post(server, `${ENGINE}/sessions/s1:appendEvent`, theirs);
    }
    for (const id of ['b', 'c', 'd']) {
      now += 60_000;
      await service.appendEvent({ session, event: event(id, now) });
    }
    assert.deepEqual(ids(session), ['first', 'a', 'b', 'c', 'd']);
    now += 60_000;
    await service.appendEvent({ session, event: event('a', now) });
    const last = await service.getSession({ ...KEY, config: { numRecentEvents: 2 } });
    assert.deepEqual(ids(last), ['c', 'd']);
  });

  it('are not stored twice, by any program and after any time', async () => {
    const first = open();
    const session = await first.createSession(KEY);
    const given = event('e', NOW, { actions: { ...createEvent().actions, stateDelta: { n: 1 } } });
    await first.appendEvent({ session, event: given });
    for (let number = 0; number < 8; number += 1) {
      const later = event(`later${number}`, NOW + 60_000 * number);
      later.actions.stateDelta = { n: 2 };
      await first.appendEvent({ session, event: later });
    }
    for (const stale of ['merge', 'append', 'reject'] as const) {
      const service = open({ stale });
      const handle = await service.getSession({ ...KEY, config: { numRecentEvents: 0 } });
      assert.ok(handle);
      const again = event('e', NOW, {
        actions: { ...createEvent().actions, stateDelta: { n: 1 } },
      });
      await service.appendEvent({ session: handle, event: again });
    }
    assert.equal(server.events('s1').length, 9);
    assert.deepEqual((await first.getSession(KEY))?.state, { n: 2 });
  });

  it('of another program reach a handle that merges', async () => {
    const [service, other] = [open(), open()];
    const session = await service.createSession(KEY);
    const theirs = await other.getSession(KEY);
    assert.ok(theirs);
    const delta = event('theirs', NOW - 1000);
    delta.actions.stateDelta = { said: 'yes' };
    await other.appendEvent({ session: theirs, event: delta });
    await service.appendEvent({ session, event: event('ours') });
    assert.deepEqual(ids(session), ['theirs', 'ours']);
    assert.deepEqual(session.state, { said: 'yes' });
  });

  it('of another program make a handle with `reject` stale', async () => {
    const service = open({ stale: 'reject' });
    const session = await service.createSession(KEY);
    const other = await service.getSession(KEY);
    assert.ok(other);
    await service.appendEvent({ session: other, event: event('theirs') });
    const refused = service.appendEvent({ session, event: event('ours') });
    await assert.rejects(refused, { code: 'stale_session' });
    assert.deepEqual(ids(await service.getSession(KEY)), ['theirs']);
  });

  it('of another program make a handle stale while a stored event is looked for', async () => {
    const service = open({ stale: 'reject' });
    const session = await service.createSession(KEY);
    const other = open();
    await service.appendEvent({ session, event: event('first', NOW + 100_000) });
    const theirs = await other.getSession(KEY);
    assert.ok(theirs);
    const late = event('theirs', NOW + 101_000);
    // Behind the list of the newest events.
    server.fail('events.list', { kind: 'pass' });
    server.fail('events.list', {
      kind: 'before',
      action: () => other.appendEvent({ session: theirs, event: late }),
    });
    const refused = service.appendEvent({ session, event: event('ours') });
    await assert.rejects(refused, { code: 'stale_session' });
    assert.deepEqual(ids(await service.getSession(KEY)), ['first', 'theirs']);
  });

  it("of a client without rawEvent are rebuilt from the API's fields", async () => {
    const service = open();
    await service.createSession(KEY);
    await post(server, `${ENGINE}/sessions/s1:appendEvent`, {
      author: 'agent',
      invocationId: 'i',
      timestamp: '2026-02-02T02:40:01.5Z',
      content: { role: 'model', parts: [{ text: 'hi' }] },
      errorCode: 'E',
      actions: { transferAgent: 'b', stateDelta: { n: 1 } },
      eventMetadata: {
        branch: 'a.b',
        turnComplete: true,
        customMetadata: {
          mine: 1,
          _usage_metadata: { prompt_token_count: 3 },
          _compaction: {
            start_timestamp: 1.5,
            end_timestamp: 2.25,
            compacted_content: { parts: [{ text: 'short' }] },
          },
        },
      },
    });
    const session = await service.getSession(KEY);
    const [{ name } = { name: '' }] = server.events('s1');
    assert.deepEqual(session?.events, [
      {
        id: String(name).split('/').at(-1),
        invocationId: 'i',
        author: 'agent',
        timestamp: Date.parse('2026-02-02T02:40:01.5Z'),
        content: { role: 'model', parts: [{ text: 'hi' }] },
        errorCode: 'E',
        branch: 'a.b',
        turnComplete: true,
        usageMetadata: { promptTokenCount: 3 },
        customMetadata: { mine: 1 },
        actions: {
          stateDelta: { n: 1 },
          artifactDelta: {},
          requestedAuthConfigs: {},
          requestedToolConfirmations: {},
          transferToAgent: 'b',
          compaction: {
            startTimestamp: 1500,
            endTimestamp: 2250,
            compactedContent: { parts: [{ text: 'short' }] },
          },
        },
      },
    ]);
  });

  const moment = '2026-02-02T02:40:01.500Z';
  const rawTimes = {
    seconds: Date.parse(moment) / 1000,
    milliseconds: Date.parse(moment),
    text: moment,
  };
  for (const [unit, timestamp] of Object.entries(rawTimes)) {
    it(`with a rawEvent in ${unit} are read correctly`, async () => {
      const service = open();
      await service.createSession(KEY);
      const isSeconds = unit === 'seconds';
      await post(server, `${ENGINE}/sessions/s1:appendEvent`, {
        author: 'agent',
        invocationId: 'i',
        timestamp: moment,
        rawEvent: {
          id: 'e',
          timestamp,
          invocationId: 'i',
          nodeInfo: { path: '' },
          ...(isSeconds
            ? { actions: { compaction: { startTimestamp: 2, endTimestamp: 3 } } }
            : { isCompacted: true, startTime: 2000, endTime: 3000 }),
        },
      });
      const [read] = (await service.getSession(KEY))?.events ?? [];
      assert.ok(read);
      assert.equal(read.id, 'e');
      assert.equal(read.author, 'agent');
      assert.equal(read.timestamp, Date.parse(moment));
      assert.ok(!('nodeInfo' in read));
      const { startTime } = read as { startTime?: number };
      const { compaction } = read.actions as { compaction?: { startTimestamp: number } };
      assert.equal(isSeconds ? compaction?.startTimestamp : startTime, 2000);
    });
  }

  it("with a rawEvent in the names of adk-go's types are read completely", async () => {
    const service = open();
    await service.createSession(KEY);
    await post(server, `${ENGINE}/sessions/s1:appendEvent`, {
      author: 'planner',
      invocationId: 'i1',
      timestamp: moment,
      rawEvent: GO_EVENT,
    });
    const session = await service.getSession(KEY);
    const actions = createEventActions(EVENT_OF_GO.actions);
    assert.deepEqual(session?.events, [{ ...EVENT_OF_GO, actions }]);
  });

  it('posted twice by a client are one', async () => {
    const service = open();
    await service.createSession(KEY);
    for (const text of ['first', 'second']) {
      await post(server, `${ENGINE}/sessions/s1:appendEvent`, {
        author: 'agent',
        invocationId: 'i',
        timestamp: new Date(NOW).toISOString(),
        rawEvent: { id: 'e', timestamp: NOW / 1000, errorMessage: text },
      });
    }
    const session = await service.getSession(KEY);
    assert.deepEqual(ids(session), ['e']);
    assert.equal(session?.events[0]?.errorMessage, 'second');
  });

  it('that cannot be read are named, and omitted with skipCorrupt', async () => {
    const service = open();
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: event('good') });
    await post(server, `${ENGINE}/sessions/s1:appendEvent`, {
      author: 'agent',
      invocationId: 'i',
      timestamp: new Date(NOW + 5).toISOString(),
      eventMetadata: {
        customMetadata: { _adk_session_wasm: { id: 'bad', timestamp: NOW, event: '{"id":' } },
      },
    });
    await assert.rejects(service.getSession(KEY), { code: 'corrupt_record' });
    const read = await service.getSession({ ...KEY, config: { skipCorrupt: true } });
    assert.deepEqual(ids(read), ['good']);
  });

  it('are sent without fields unknown to the API, and read back with them', async () => {
    const service = open();
    const session = await service.createSession(KEY);
    const given = createEvent({
      id: 'e',
      timestamp: NOW,
      author: 'agent',
      invocationId: '',
      content: {
        role: 'user',
        parts: [{ text: 'hi', partMetadata: { a: 1 } }, { partMetadata: { only: true } }],
      },
    });
    const strange = Object.assign(given, { my_field: { b: 1, a: [null] }, branch: 7 });
    await service.appendEvent({ session, event: strange });
    const [stored] = server.events('s1');
    assert.deepEqual(stored?.content, { role: 'user', parts: [{ text: 'hi' }] });
    const service2 = open();
    const [read] = (await service2.getSession(KEY))?.events ?? [];
    assert.equal(JSON.stringify(read), JSON.stringify(strange));
  });
});
