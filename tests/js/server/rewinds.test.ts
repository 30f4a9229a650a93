// Rewinds over HTTP. The client has no rights, unless the test says otherwise.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEventActions } from '../../../js/index.js';
import type { Authorize, SessionHandlerOptions } from '../../../js/server/index.js';
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

/** A marker as a client makes it. */
const marker = (id: string, target = 'i2') => ({
  ...eventJson(id, { turn: 1 }),
  invocationId: id,
  content: undefined,
  actions: { stateDelta: { turn: 1 }, rewindBeforeInvocationId: target },
});

describe('POST …/rewind', () => {
  for (const name of ['rewindBeforeInvocationId', 'rewind_before_invocation_id']) {
    it(`undoes what ${name} names, and returns the session`, async () => {
      const { ask, stored } = await serveTurns();
      const { status, body } = await ask(REWIND, { body: { [name]: 'i2' } });
      assert.equal(status, 200);
      const { state, events } = body as { state: object; events: Record<string, unknown>[] };
      assert.deepEqual(state, { topic: 'tea', turn: 1 });
      assert.equal(events.length, 3);
      const { actions, author, content } = events[2]!;
      assert.deepEqual(actions, {
        stateDelta: { topic: 'tea', turn: 1, added: null },
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
        rewindBeforeInvocationId: 'i2',
      });
      assert.deepEqual([author, content], ['user', undefined]);
      assert.deepEqual((await stored()).state, state);
    });
  }

  it('reads the history once to answer, and has the revision of the rewound session', async () => {
    const { ask, service, stored } = await serveTurns();
    const { getSession } = service;
    let reads = 0;
    service.getSession = (request) => {
      reads += 1;
      return Reflect.apply(getSession, service, [request]) as never;
    };
    const { headers } = await ask(REWIND, { body: { rewindBeforeInvocationId: 'i2' } });
    assert.equal(reads, 1);
    assert.equal(Number(headers.get('adk-session-revision')), service.revisionOf(await stored()));
  });

  it('is refused for unknown places, and writes nothing', async () => {
    const { ask, stored } = await serveTurns();
    for (const [path, body, status] of [
      [REWIND, { rewindBeforeInvocationId: 'none' }, 404],
      [REWIND, { rewindBeforeInvocationId: '' }, 404],
      [REWIND, { rewindBeforeInvocationId: 1 }, 400],
      [REWIND, {}, 400],
      [REWIND, { rewindBeforeInvocationId: 'i2', more: 1 }, 400],
      [`${SESSIONS}/none/rewind`, { rewindBeforeInvocationId: 'i2' }, 404],
    ] as const) {
      assert.equal((await ask(path, { body })).status, status, JSON.stringify(body));
    }
    assert.equal((await stored()).events.length, 2);
  });
});

describe('A rewind', () => {
  const body = { rewindBeforeInvocationId: 'i2' };
  const requests = [
    [REWIND, body],
    [EVENTS, { events: [marker('r1')] }],
    [`${SESSION}/handle/events`, { events: [marker('r1')], stale: 'append' }],
  ] as const;

  it('is an action of its own, also if a client appends its marker', async () => {
    const actions: string[] = [];
    const authorize: Authorize = (request, { action }) => {
      // The second question about an append comes when its body has been read.
      const isSecond = action === 'rewind' && request.url.endsWith('/events');
      assert.equal(request.bodyUsed, isSecond);
      actions.push(action);
      return action === 'rewind' ? false : { mayWriteAgentEvents: true };
    };
    const { ask, stored } = await serveTurns({ authorize });
    for (const [path, body] of requests) assert.equal((await ask(path, { body })).status, 403);
    assert.deepEqual(actions, ['rewind', 'appendEvents', 'rewind', 'appendEvents', 'rewind']);
    assert.equal((await stored()).events.length, 2);
  });

  it('has status 409 while an agent runs in the session', async () => {
    let running = KEY.sessionId;
    const isRunning = async ({ sessionId }: typeof KEY) => sessionId === running;
    const { ask, stored } = await serveTurns({ isRunning });
    for (const [path, body] of requests) {
      const { status, body: answer } = await ask(path, { body });
      assert.deepEqual([status, (answer as { code?: string }).code], [409, undefined]);
    }
    assert.equal((await ask(EVENTS, { body: { events: [eventJson('e1')] } })).status, 200);
    running = 'another';
    for (const [path, body] of requests) assert.equal((await ask(path, { body })).status, 200);
    assert.equal((await stored()).events.length, 5, 'the marker that is sent twice is stored once');
  });

  it('has status 500 if isRunning throws, and onError gets the error', async () => {
    const failure = new Error('no connection to the runs');
    const seen: unknown[] = [];
    const { ask, stored } = await serveTurns({
      isRunning: () => Promise.reject(failure),
      onError: (error) => seen.push(error),
    });
    for (const [path, body] of requests) assert.equal((await ask(path, { body })).status, 500);
    assert.deepEqual(seen, [failure, failure, failure]);
    assert.equal((await stored()).events.length, 2);
  });

  it('may stand in one append with the next message', async () => {
    const { ask } = await serveTurns();
    const events = [marker('r1'), { ...eventJson('i3'), invocationId: 'i3' }];
    assert.equal((await ask(EVENTS, { body: { events } })).status, 200);
    const { body } = await ask(`${SESSION}?view=transcript`);
    assert.deepEqual(idsIn(body), ['i1', 'i3']);
  });

  it('allows nothing else that only an agent may write', async () => {
    const { ask, stored } = await serveTurns();
    for (const members of [
      { author: 'guide' },
      { longRunningToolIds: ['c1'] },
      { actions: { rewindBeforeInvocationId: 'i2', transferToAgent: 'admin' } },
      { actions: { rewindBeforeInvocationId: 'i2', stateDelta: { 'user:paid': true } } },
    ]) {
      const events = [{ ...marker('r1'), ...members }];
      assert.equal((await ask(EVENTS, { body: { events } })).status, 403);
    }
    const created = { events: [marker('r1')] };
    assert.equal((await ask(SESSIONS, { body: created })).status, 403);
    assert.equal((await stored()).events.length, 2);
  });

  it('is not taken back by a message in the place of its marker', async () => {
    const { ask } = await serveTurns();
    assert.equal((await ask(EVENTS, { body: { events: [marker('r1')] } })).status, 200);
    assert.equal((await ask(EVENTS, { body: { events: [eventJson('r1')] } })).status, 403);
  });
});

describe('The views of a session', () => {
  it('are those of its reads and of its pages', async () => {
    const { ask } = await serveTurns();
    const { body } = await ask(REWIND, { body: { rewindBeforeInvocationId: 'i2' } });
    const all = idsIn(body);
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
