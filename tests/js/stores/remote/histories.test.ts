// Histories that the server computes: what it hides from the client, and answers that are lost.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError } from '../../../../js/values/errors/errors.js';
import {
  branches,
  fork,
  rewind,
  stateAt,
  switchBranch,
  undoRewind,
} from '../../../../js/core/history/index.js';
import { createEvent, InMemorySessionService, type SessionService } from '../../../../js/index.js';
import { liveSession } from '../../../../js/ui/live/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { fetchFrom, handlerOn, KEY, URL_OF_SERVER } from './fixture.js';

const SECRET = 'the-secret-token';
const credential = { authType: 'http', accessToken: SECRET, name: 'calendar' };

/** A request for a credential, its answer with secrets, and a later turn. */
const EVENTS = [
  createEvent({
    id: 'm1',
    invocationId: 'i1',
    author: 'user',
    content: { role: 'user', parts: [{ text: 'What is in my calendar?' }] },
    actions: { stateDelta: { credential } },
  }),
  createEvent({
    id: 'call',
    invocationId: 'i1',
    author: 'guide',
    longRunningToolIds: ['c1'],
    content: {
      role: 'model',
      parts: [{ functionCall: { id: 'c1', name: 'adk_request_credential', args: {} } }],
    },
  }),
  createEvent({
    id: 'answer',
    invocationId: 'i2',
    author: 'user',
    content: {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'c1',
            name: 'adk_request_credential',
            response: { exchangedAuthCredential: credential },
          },
        },
      ],
    },
  }),
  createEvent({
    id: 'result',
    invocationId: 'i2',
    author: 'guide',
    content: { role: 'model', parts: [{ text: 'Nothing.' }] },
    actions: { stateDelta: { credential: null, seen: true } },
  }),
];

interface Served {
  readonly service: InMemorySessionService;
  /** That of a user who may not write events of agents, and sees no credentials. */
  readonly remote: SessionService;
  /** What the remote got. */
  readonly answers: string[];
  /** Each answer is lost this often. */
  losses: number;
}

async function serve(): Promise<Served> {
  const service = new InMemorySessionService();
  const handler = handlerOn(service, { authorize: () => true });
  const fetch = fetchFrom(handler);
  const answers: string[] = [];
  const lost = new Map<string, number>();
  const remote = new RemoteSessionService({
    url: URL_OF_SERVER,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const response = await fetch(request);
      const text = await response.clone().text();
      answers.push(text);
      const count = lost.get(request.url) ?? 0;
      if (request.method === 'POST' && count < served.losses) {
        lost.set(request.url, count + 1);
        throw new TypeError('fetch failed');
      }
      return response;
    },
  });
  const served: Served = { service, remote, answers, losses: 0 };
  const session = await service.createSession({ ...KEY, state: { cups: 0 } });
  for (const event of EVENTS) await service.appendEvent({ session, event: structuredClone(event) });
  return served;
}

const rawOf = async (service: SessionService, sessionId = KEY.sessionId) =>
  (await service.getSession({ ...KEY, sessionId }))!;

const shownOf = async (service: SessionService) =>
  (await service.getSession({ ...KEY, config: { view: 'transcript' } }))!.events;

describe('The history of a session whose credentials the server hides', () => {
  it('is rewound to the whole stored state, and no answer has a secret', async () => {
    const { service, remote, answers } = await serve();
    await rewind(remote, { ...KEY, before: { invocationId: 'i2' } });
    assert.deepEqual((await rawOf(service)).state.credential, credential);
    await undoRewind(remote, KEY);
    assert.equal((await rawOf(service)).state.credential, null);
    const [turn] = await branches(remote, KEY);
    await switchBranch(remote, { ...KEY, branch: turn?.alternatives[0]?.branch ?? '' }).catch(
      () => undefined,
    );
    const { state } = await stateAt(remote, { ...KEY, eventId: 'm1' });
    assert.equal((state.credential as { name: string }).name, 'calendar');
    assert.doesNotMatch(answers.join(), new RegExp(SECRET));
  });

  it('is forked in full by a user who may not write events of agents', async () => {
    const { service, remote, answers } = await serve();
    const forked = await fork(remote, { ...KEY, newSessionId: 's2', at: { eventId: 'answer' } });
    assert.equal(forked.events.length, 3);
    assert.ok(remote.revisionOf(forked)! > 0);
    const copy = await rawOf(service, 's2');
    assert.deepEqual(copy.events, (await rawOf(service)).events.slice(0, 3));
    assert.deepEqual(copy.state.credential, credential);
    assert.doesNotMatch(answers.join(), new RegExp(SECRET));
    await remote.appendEvent({ session: forked, event: { invocationId: 'i9', author: 'user' } });
    assert.equal((await rawOf(service, 's2')).events.length, 4);
  });

  it('has an answer regenerated: the call is open again, and the answer is stored in full', async () => {
    const { service, remote, answers } = await serve();
    const chat = liveSession(remote, KEY);
    const sent = await chat.regenerate('result');
    const shown = await shownOf(service);
    assert.deepEqual(
      shown.map(({ id }) => id),
      ['m1', 'call', sent.id],
    );
    assert.deepEqual(shown[2]?.content, EVENTS[2]?.content);
    assert.notEqual(sent.invocationId, 'i2');
    assert.doesNotMatch(answers.join(), new RegExp(SECRET));
  });

  it('downloads only the places of the branches', async () => {
    const { service, remote, answers } = await serve();
    const session = await rawOf(service);
    const text = 'x'.repeat(500);
    const events = Array.from({ length: 500 }, (_, at) => ({
      id: `e${at}`,
      invocationId: `j${at}`,
      author: 'user',
      content: { role: 'user', parts: [{ text }] },
    }));
    await service.appendEvents({ session, events });
    await rewind(remote, { ...KEY, before: { invocationId: 'j499' } });
    answers.length = 0;
    assert.equal((await branches(remote, KEY)).length, 1);
    assert.ok(answers.join('').length < 1000);
  });
});

describe('The history over adk api_server', () => {
  it('is computed by the client, also of a long session', async () => {
    const events = Array.from({ length: 1001 }, (_, at) => {
      const content = { role: 'user', parts: [{ text: 'Tea?' }] };
      return { id: `e${at}`, invocationId: `i${at}`, author: 'user', timestamp: 1, content };
    });
    const actions = { rewindBeforeInvocationId: 'i1000' };
    const marker = { id: 'r', invocationId: 'e-r', author: 'user', timestamp: 1, actions };
    const session = { id: 's1', appName: 'shop', userId: 'ada', state: {}, lastUpdateTime: 1 };
    const remote = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: (input) => {
        const isVersion = new Request(input).url.endsWith('/version');
        const json = isVersion
          ? { language: 'python', version: '2.13.0' }
          : { ...session, events: [...events, marker] };
        return Promise.resolve(Response.json(json));
      },
    });
    const alternatives = [{ invocationId: 'i1000', isShown: false, branch: 'e-r' }];
    assert.deepEqual(await branches(remote, KEY), [{ after: 'i999', alternatives }]);
    assert.deepEqual((await stateAt(remote, { ...KEY, eventId: 'e3' })).state, {});
    const place = { before: { invocationId: 'i3' } };
    await assert.rejects(rewind(remote, { ...KEY, ...place }), { code: 'unsupported' });
  });
});

describe('A lost answer', () => {
  it('to a rewind, an edit or a fork is asked for again, and nothing is stored twice', async () => {
    const served = await serve();
    const { service, remote } = served;
    served.losses = 2;
    const chat = liveSession(remote, KEY);
    const { event } = await rewind(remote, { ...KEY, before: { invocationId: 'i2' } });
    const message = await chat.edit('m1', { role: 'user', parts: [{ text: 'And tomorrow?' }] });
    const raw = (await rawOf(service)).events;
    assert.deepEqual(
      raw.map(({ id }) => id),
      [...EVENTS.map(({ id }) => id), event.id, raw[5]!.id, message.id],
    );
    const forked = await fork(remote, { ...KEY, at: { eventId: message.id } });
    assert.equal(forked.events.length, 7);
    assert.equal((await service.listSessions({ appName: KEY.appName })).totalItems, 2);
  });
});

describe('undoRewind', () => {
  it('is refused if another rewind comes after it has read the last one', async () => {
    const { service, remote } = await serve();
    const key = { ...KEY, before: { invocationId: 'i2' } };
    await rewind(remote, key);
    const handler = handlerOn(service, { authorize: () => true });
    const late = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        if (request.method === 'POST') await rewind(service, key);
        return handler(request);
      },
    });
    await assert.rejects(undoRewind(late, KEY), (error) => isSessionError(error, 'stale_session'));
    assert.equal((await rawOf(service)).events.length, 6);
  });
});
