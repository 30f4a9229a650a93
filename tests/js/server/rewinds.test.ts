// Rewinds over HTTP. The client has no rights, unless the test says otherwise.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEventActions } from '../../../js/index.js';
import type { Authorize, SessionHandlerOptions } from '../../../js/server/index.js';
import { echo } from '../ui/live/runs/agents.js';
import { eventJson, idsIn, KEY, serve, SESSION, SESSIONS } from './fixture.js';

const REWIND = `${SESSION}/rewind`;
const EVENTS = `${SESSION}/events`;

/** Serves a session of the turns `i1` and `i2`, each with one event of the same name. */
async function serveTurns(options: Partial<SessionHandlerOptions> = {}) {
  const served = serve({ authorize: () => true, ...options });
  const { service } = served;
  const session = await service.createSession({ ...KEY, state: { topic: 'tea' } });
  for (const [id, stateDelta] of [
    ['i1', { turn: 1 }],
    ['i2', { turn: 2, topic: 'cake', added: true }],
  ] as const) {
    const content = { role: 'user', parts: [{ text: id }] };
    const actions = createEventActions({ stateDelta });
    const event = { id, invocationId: id, author: 'user', content, actions };
    await service.appendEvent({ session, event });
  }
  const stored = async () => (await service.getSession(KEY))!;
  return { ...served, stored };
}

/** A marker as a client would make it. */
const marker = (id: string, target = 'i2') => ({
  ...eventJson(id, { turn: 1 }),
  invocationId: id,
  content: undefined,
  actions: { stateDelta: { turn: 1 }, rewindBeforeInvocationId: target },
});

describe('POST …/rewind', () => {
  it('refuses files that no message of the request names', async () => {
    const { ask, stored } = await serveTurns();
    const files = [{ part: 0, name: 'tea.txt', version: 0 }];
    const message = { id: 'e9', invocationId: 'i9' };
    for (const body of [
      { place, events: [eventJson('e9')], files },
      { place: { turn: 'i2' }, message, files },
    ]) {
      const answer = await ask(REWIND, { body });
      assert.deepEqual([answer.status, (answer.body as { key: string }).key], [400, 'files']);
    }
    assert.deepEqual(idsIn(await stored()), ['i1', 'i2']);
  });

  it('undoes what its place names, and returns the marker', async () => {
    const { ask, stored } = await serveTurns();
    const { status, body } = await ask(REWIND, { body: { place } });
    assert.equal(status, 200);
    const { event } = body as { event: Record<string, unknown> };
    assert.deepEqual(event.actions, {
      stateDelta: { topic: 'tea', turn: 1, added: null },
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
      rewindBeforeInvocationId: 'i2',
    });
    assert.deepEqual([event.author, event.content], ['user', undefined]);
    const { state, events } = await stored();
    assert.deepEqual([state, events.length], [{ topic: 'tea', turn: 1 }, 3]);
    assert.deepEqual(events[2]?.id, event.id);
  });

  it('reads no history to answer, and has the revision of the rewound session', async () => {
    const { ask, service, stored } = await serveTurns();
    const { getSession } = service;
    let reads = 0;
    service.getSession = (request) => {
      reads += 1;
      return Reflect.apply(getSession, service, [request]);
    };
    const { body } = await ask(REWIND, { body: { place } });
    assert.equal(reads, 0);
    assert.equal((body as { revision: number }).revision, service.revisionOf(await stored()));
  });

  it('is refused for unknown places, and writes nothing', async () => {
    const { ask, stored } = await serveTurns();
    for (const [path, body, status] of [
      [REWIND, { place: { before: { invocationId: 'none' } } }, 404],
      [REWIND, { place: { before: { invocationId: '' } } }, 404],
      [REWIND, { place: { before: { invocationId: 1 } } }, 400],
      [REWIND, { place: { undo: 'none' } }, 404],
      [REWIND, {}, 400],
      [REWIND, { place, more: 1 }, 400],
      [`${SESSIONS}/none/rewind`, { place }, 404],
    ] as const) {
      assert.equal((await ask(path, { body })).status, status, JSON.stringify(body));
    }
    assert.equal((await stored()).events.length, 2);
  });
});

/** The ids of a marker, as a client draws them. */
const ids = { id: 'r1', invocationId: 'e-r1' };
const place = { before: { invocationId: 'i2' } };

describe('A rewind', () => {
  const body = { place };

  it('is an action of its own', async () => {
    const actions: string[] = [];
    const authorize: Authorize = (request, { action }) => {
      assert.equal(request.bodyUsed, false);
      actions.push(action);
      return false;
    };
    const { ask, stored } = await serveTurns({ authorize });
    assert.equal((await ask(REWIND, { body })).status, 403);
    assert.deepEqual(actions, ['rewind']);
    assert.equal((await stored()).events.length, 2);
  });

  it('that is sent again changes nothing, and has the same answer', async () => {
    const { ask, stored } = await serveTurns();
    const message = { id: 'm2', invocationId: 'i3' };
    const turn = { place: { turn: 'i2' }, marker: ids, message };
    const first = await ask(REWIND, { body: turn });
    assert.equal(first.status, 200);
    const { events } = await stored();
    const { body: second } = await ask(REWIND, { body: turn });
    assert.deepEqual(second, { ...(first.body as object), isNew: false });
    assert.deepEqual((await stored()).events, events);
    assert.deepEqual(
      events.map(({ id }) => id),
      ['i1', 'i2', 'r1', 'm2'],
    );
  });

  it('whose marker has the id of another event is refused', async () => {
    const { ask } = await serveTurns();
    const marker = { ...ids, id: 'i1' };
    assert.equal((await ask(REWIND, { body: { place, marker } })).status, 400);
  });

  it('undoes only the rewind that is the last one', async () => {
    const { ask, stored } = await serveTurns();
    assert.equal((await ask(REWIND, { body: { place, marker: ids } })).status, 200);
    const undo = { place: { undo: ids.invocationId } };
    assert.equal((await ask(REWIND, { body })).status, 200);
    const { status, body: answer } = await ask(REWIND, { body: undo });
    assert.deepEqual([status, (answer as { code?: string }).code], [409, 'stale_session']);
    assert.equal((await stored()).events.length, 4);
  });

  it('appends events after its marker, if the client may append them', async () => {
    const { ask, stored } = await serveTurns();
    const answer = { functionResponse: { id: 'c1', name: 'none', response: {} } };
    for (const members of [
      { author: 'guide' },
      { actions: { stateDelta: { 'user:paid': true } } },
      { content: { role: 'user', parts: [answer] } },
    ]) {
      const events = [{ ...eventJson('e3'), ...members }];
      assert.equal((await ask(REWIND, { body: { place, events } })).status, 403);
    }
    assert.equal((await stored()).events.length, 2);
    const events = [{ ...eventJson('e3'), invocationId: 'i3' }];
    assert.equal((await ask(REWIND, { body: { place, events } })).status, 200);
    const { body } = await ask(`${SESSION}?view=transcript`);
    assert.deepEqual(idsIn(body), ['i1', 'e3']);
  });

  it('of another form is refused with status 400', async () => {
    const { ask, stored } = await serveTurns();
    const message = { ...ids };
    for (const body of [
      { place: {} },
      { place: { undo: 'a', branch: 'b' } },
      { place: { undo: 1 } },
      { place: { before: 'i1' } },
      { place: { turn: 'i2' } },
      { place, message },
      { place: { turn: 'i2' }, message: { ...message, content: 1 } },
      { place, marker: { id: 'r1' } },
      { place, events: {} },
    ]) {
      assert.equal((await ask(REWIND, { body })).status, 400, JSON.stringify(body));
    }
    assert.equal((await stored()).events.length, 2);
  });
});

describe('The ids of a rewind', () => {
  const message = { id: 'm2', invocationId: 'i3' };
  const turn = { place: { turn: 'i2' }, marker: ids, message };
  const events = [{ ...eventJson('e3'), invocationId: 'i3' }];

  /** Serves two turns; the second has an answer of the agent. */
  async function serveAnswered() {
    const served = await serveTurns({ run: echo });
    const { service, ask, stored } = served;
    const event = { id: 'a2', invocationId: 'i2', author: 'guide' };
    await service.appendEvent({ session: await stored(), event });
    const refuses = async (body: object, key: string): Promise<void> => {
      const before = await stored();
      const { status, body: answer } = await ask(REWIND, { body });
      const { code, key: named } = answer as { code?: string; key?: string };
      assert.deepEqual([status, code, named], [400, 'invalid_argument', key], JSON.stringify(body));
      assert.deepEqual(await stored(), before, 'nothing has changed');
    };
    return { ...served, refuses };
  }

  it('are distinct', async () => {
    const { refuses } = await serveAnswered();
    for (const run of [undefined, {}]) {
      await refuses({ ...turn, message: { ...message, id: 'r1' }, run }, 'message.id');
      await refuses({ ...turn, events: [eventJson('m2')], run }, 'events[0].id');
    }
    await refuses({ place, marker: ids, events: [eventJson('r1')] }, 'events[0].id');
    await refuses({ place, events: [eventJson('e3'), eventJson('e3')] }, 'events[1].id');
  });

  it('are not those of other events: of an agent, of a user, of another invocation', async () => {
    const { refuses } = await serveAnswered();
    for (const id of ['a2', 'i1', 'i2']) {
      for (const run of [undefined, {}]) {
        await refuses({ ...turn, message: { id, invocationId: 'i2' }, run }, 'message.id');
        await refuses({ ...turn, marker: { ...ids, id }, run }, 'marker.id');
      }
      await refuses({ place, marker: ids, events: [eventJson(id)] }, 'events[0].id');
    }
  });

  it('are all those of the stored rewind, or none', async () => {
    const { ask, refuses, stored } = await serveAnswered();
    assert.equal((await ask(REWIND, { body: { ...turn, events } })).status, 200);
    const { length } = (await stored()).events;
    for (const run of [undefined, {}]) {
      await refuses({ ...turn, marker: { id: 'r1', invocationId: 'e-r2' }, run }, 'marker.id');
      await refuses({ ...turn, marker: { id: 'r2', invocationId: 'e-r1' }, run }, 'message.id');
      await refuses({ ...turn, message: { ...message, id: 'm3' }, run }, 'message.id');
      await refuses({ ...turn, message: { id: 'r1', invocationId: 'e-r1' }, run }, 'message.id');
      await refuses({ ...turn, message: { id: 'i1', invocationId: 'i1' }, run }, 'message.id');
      await refuses({ ...turn, message: { ...message, invocationId: 'i4' }, run }, 'message.id');
      await refuses({ ...turn, events: [eventJson('e4')], run }, 'events[0].id');
      await refuses({ ...turn, events: [eventJson('e3')], run }, 'events[0].id');
      assert.equal((await ask(REWIND, { body: { ...turn, events, run } })).status, 200);
    }
    assert.equal((await stored()).events.length, length);
  });
});

describe('The marker of a rewind', () => {
  it('is appended by no client that may not write the events of agents', async () => {
    const { ask, stored } = await serveTurns();
    assert.equal((await ask(REWIND, { body: { place, marker: ids } })).status, 200);
    for (const [path, body] of [
      [EVENTS, { events: [marker('r2')] }],
      [EVENTS, { events: [marker('i2')] }],
      [EVENTS, { events: [marker('r1', 'i1')] }],
      [EVENTS, { events: [eventJson('r1')] }],
      [EVENTS, { events: [marker('r2')], stale: 'merge', position: {} }],
      [SESSIONS, { events: [marker('r2')] }],
    ] as const) {
      assert.equal((await ask(path, { body })).status, 403, JSON.stringify(body));
    }
    assert.equal((await stored()).events.length, 3);
  });

  it('is appended by one that may', async () => {
    const { ask } = await serveTurns({ authorize: () => ({ mayWriteAgentEvents: true }) });
    assert.equal((await ask(EVENTS, { body: { events: [marker('r1')] } })).status, 200);
    assert.deepEqual(idsIn((await ask(`${SESSION}?view=transcript`)).body), ['i1']);
  });
});

describe('POST …/fork', () => {
  it('needs the rights to read the session and to create the new one', async () => {
    const asked: unknown[] = [];
    const authorize: Authorize = (_, { action, sessionId }) => {
      asked.push([action, sessionId]);
      return action !== 'createSession';
    };
    const { ask, service } = await serveTurns({ authorize });
    const body = { newSessionId: 's2', at: { eventId: 'i1' } };
    assert.equal((await ask(`${SESSION}/fork`, { body })).status, 403);
    assert.deepEqual(asked, [
      ['getSession', 's1'],
      ['createSession', 's2'],
    ]);
    assert.equal((await service.listSessions({ appName: KEY.appName })).totalItems, 1);
  });

  it('that is sent again returns the session that it made', async () => {
    const { ask, service } = await serveTurns();
    const fork = (more: object) =>
      ask(`${SESSION}/fork`, { body: { newSessionId: 's2', ...more } });
    const first = await fork({ at: { invocationId: 'i1' }, title: 'Again' });
    assert.equal(first.status, 200);
    assert.deepEqual(idsIn(first.body), ['i1']);
    assert.deepEqual((await fork({ at: { invocationId: 'i1' } })).body, first.body);
    assert.equal((await fork({ at: { invocationId: 'i2' } })).status, 409);
    assert.equal((await fork({ at: { invocationId: 'i1' }, before: {} })).status, 400);
    assert.equal((await service.listSessions({ appName: KEY.appName })).totalItems, 2);
  });
});

describe('GET …/branches and …/state', () => {
  it('return the places of branches, and the state right after an event', async () => {
    const { ask } = await serveTurns();
    assert.deepEqual((await ask(`${SESSION}/branches`)).body, { places: [] });
    await ask(REWIND, { body: { place, marker: ids } });
    const alternatives = [{ invocationId: 'i2', isShown: false, branch: 'e-r1' }];
    assert.deepEqual((await ask(`${SESSION}/branches`)).body, {
      places: [{ after: 'i1', alternatives }],
      lastRewind: 'e-r1',
    });
    const state = { topic: 'cake', turn: 2, added: true };
    assert.deepEqual((await ask(`${SESSION}/state?eventId=i2`)).body, { state, unknownKeys: [] });
    assert.equal((await ask(`${SESSION}/state?eventId=none`)).status, 404);
    assert.equal((await ask(`${SESSION}/state`)).status, 400);
  });
});

describe('The views of a session', () => {
  it('are those of its reads and of its pages', async () => {
    const { ask, stored } = await serveTurns();
    await ask(REWIND, { body: { place } });
    const all = (await stored()).events.map(({ id }) => id);
    for (const path of [SESSION, EVENTS]) {
      assert.deepEqual(idsIn((await ask(path)).body), all);
      assert.deepEqual(idsIn((await ask(`${path}?view=raw`)).body), all);
      assert.deepEqual(idsIn((await ask(`${path}?view=transcript`)).body), ['i1']);
      assert.deepEqual(idsIn((await ask(`${path}?view=model`)).body), ['i1']);
      assert.equal((await ask(`${path}?view=other`)).status, 400);
    }
    assert.deepEqual(idsIn((await ask(`${SESSION}?view=model&numRecentEvents=1`)).body), ['i1']);
    assert.deepEqual(idsIn((await ask(`${EVENTS}?view=model&limit=1`)).body), ['i1']);
  });
});

describe('A response with a part of the events', () => {
  const PARTS = {
    'GET …/S': `${SESSION}?numRecentEvents=2`,
    'GET …/S/events': `${SESSION}/events?limit=2`,
    'GET …/S/changes': `${SESSION}/changes?since=1`,
  } as const;
  const starts = [{ invocationId: 'i1', eventId: 'i1' }, { invocationId: 'never' }];

  for (const [name, path] of Object.entries(PARTS)) {
    it(`${name} tells where the rewinds among them start`, async () => {
      const { ask, service } = await serveTurns();
      const session = (await service.getSession(KEY))!;
      for (const target of ['i1', 'never']) {
        const actions = Object.assign(createEventActions(), { rewindBeforeInvocationId: target });
        const event = { id: `to-${target}`, invocationId: `r-${target}`, author: 'user', actions };
        await service.appendEvent({ session, event });
      }
      const { body } = await ask(path);
      assert.deepEqual((body as { rewindStarts: unknown }).rewindStarts, starts);
    });
  }

  it('lacks that if there is no rewind among them, or if they are all', async () => {
    const { ask, service } = await serveTurns();
    const hasStarts = async (path: string) =>
      'rewindStarts' in ((await ask(path)).body as Record<string, unknown>);
    assert.equal(await hasStarts(PARTS['GET …/S']), false);
    const session = (await service.getSession(KEY))!;
    const actions = Object.assign(createEventActions(), { rewindBeforeInvocationId: 'i2' });
    await service.appendEvent({
      session,
      event: { id: 'r', invocationId: 'r', author: 'user', actions },
    });
    assert.equal(await hasStarts(SESSION), false);
    assert.equal(await hasStarts(PARTS['GET …/S']), true);
  });
});
