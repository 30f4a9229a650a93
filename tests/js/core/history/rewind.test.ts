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
import { requireHistory } from '../../../../js/core/history/histories.js';
import { overtake } from './writes/overtaken.js';
import { viewOf } from '../../../../js/core/history/rules/view.js';
import { exportSession, importSession } from '../../../../js/service/files/index.js';
import {
  createEventActions,
  InMemorySessionService,
  type Session,
  type SessionErrorCode,
  type SessionService,
  State,
  type StateShape,
} from '../../../../js/index.js';
import type { ImportedSessionRequest } from '../../../../js/values/model/session.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };

/** A session, and what to do with it in few words. */
async function conversation(state: StateShape = {}, initialState?: 'unknown') {
  const service = new InMemorySessionService();
  const request: ImportedSessionRequest = { ...key, state, initialState };
  const session = await service.createSession(request);
  const say = async (invocationId: string, stateDelta: StateShape = {}) => {
    const content = { role: 'user', parts: [{ text: invocationId }] };
    const actions = createEventActions({ stateDelta });
    const id = `${invocationId}-${session.events.length}`;
    await service.appendEvent({
      session,
      event: { id, invocationId, author: 'user', content, actions },
    });
    return id;
  };
  return { service, say };
}

async function read(service: SessionService): Promise<Session> {
  const session = await service.getSession(key);
  assert.ok(session);
  return session;
}

async function shown(service: SessionService): Promise<string[]> {
  const { events } = await read(service);
  return viewOf(events, 'transcript').events.map(({ invocationId }) => invocationId);
}

const refusal = (code: SessionErrorCode, message?: RegExp) => (error: unknown) => {
  assert.ok(isSessionError(error, code), String(error));
  if (message !== undefined) assert.match(error.message, message);
  return true;
};

describe('rewind', () => {
  it("is unsupported over a service of a user's own, which has no core, as are the other functions", async () => {
    const { service, say } = await conversation();
    await say('i1');
    const own = new Proxy({} as SessionService, {
      get: (_, name): unknown =>
        typeof name === 'symbol' ? undefined : Reflect.get(service, name),
    });
    const place = { eventId: 'i1-0' };
    for (const asked of [
      rewind(own, { ...key, before: place }),
      undoRewind(own, key),
      fork(own, { ...key, at: place }),
      branches(own, key),
      stateAt(own, { ...key, ...place }),
    ]) {
      await assert.rejects(asked, refusal('unsupported', /not one around it/));
    }
  });

  it("appends Python's marker, and takes the session's state back", async () => {
    const { service, say } = await conversation({ kept: 1, changed: 'old', 'user:name': 'Ada' });
    await say('i1', { before: 1 });
    await say('i2', { before: 2, changed: 'new', added: true, 'user:name': 'Bob', 'app:x': 1 });
    await say('i3', { added: false });

    const { event, unknownKeys } = await rewind(service, {
      ...key,
      before: { invocationId: 'i2' },
    });
    const { events, state } = await read(service);
    assert.deepEqual(events.at(-1), event);
    assert.match(event.invocationId, /^e-[0-9a-f-]{36}$/);
    assert.equal(event.author, 'user');
    assert.equal(event.content, undefined);
    assert.deepEqual(event.actions, {
      stateDelta: { before: 1, changed: 'old', added: null },
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
      rewindBeforeInvocationId: 'i2',
    });
    assert.deepEqual(unknownKeys, []);
    assert.deepEqual(state, {
      kept: 1,
      before: 1,
      changed: 'old',
      'user:name': 'Bob',
      'app:x': 1,
    });
    assert.deepEqual(await shown(service), ['i1']);
  });

  it('removes keys that did not exist at its cut, for defaults and for computed deltas, and keeps null', async () => {
    const { service, say } = await conversation({ initial: 'green' });
    await say('i1', { nothing: null });
    const missing = await read(service);
    await say('i2', { initial: 'black', nothing: 1, added: 1 });
    const { event } = await requireHistory(service).rewind({
      kind: 'rewind',
      key,
      marker: { id: 'r1', invocationId: 'e-r1' },
      place: { before: { invocationId: 'i2' } },
    });
    const state = { initial: 'green', nothing: null };
    assert.deepEqual(event.actions.stateDelta, { ...state, added: null }, 'for Python');
    assert.deepEqual((await read(service)).state, state);

    await service.appendEvent({
      session: missing,
      event: { id: 'late', invocationId: 'i3', author: 'user' },
    });
    assert.deepEqual(missing.state, state, 'a handle that has missed the rewind');
    assert.equal(new State(missing.state).get('added', 'default'), 'default');
    await service.updateState({
      ...key,
      stateDelta: ({ added = 10, nothing = 10 }) => ({ added, nothing }),
    });
    assert.deepEqual((await read(service)).state, { ...state, added: 10 });
  });

  it('knows the cut of a marker of Python, whose null is what is stored', async () => {
    const { service, say } = await conversation({ initial: 'green' });
    await say('i1', { added: 1 });
    const nulls = { initial: null, added: null };
    const actions = createEventActions({
      stateDelta: nulls,
      rewindBeforeInvocationId: 'i1',
    } as object);
    const marker = { id: 'm', invocationId: 'p1', author: 'user', actions };
    await service.appendEvent({ session: await read(service), event: marker });
    assert.deepEqual((await read(service)).state, nulls);
    const expected = { state: { initial: 'green' }, unknownKeys: [] };
    assert.deepEqual(await stateAt(service, { ...key, eventId: 'm' }), expected);
    const forked = await fork(service, { ...key, at: { eventId: 'm' } });
    assert.deepEqual(forked.state, expected.state);
    await say('i2', { initial: 'black' });
    await rewind(service, { ...key, before: { invocationId: 'i2' } });
    assert.deepEqual((await read(service)).state, { initial: 'green', added: null });
  });

  it('takes an event for its invocation', async () => {
    const { service, say } = await conversation();
    await say('i1');
    await say('i2');
    const eventId = await say('i2');
    const { event } = await rewind(service, { ...key, before: { eventId } });
    assert.deepEqual(await shown(service), ['i1']);
    assert.equal(Object.hasOwn(event.actions, 'rewindBeforeInvocationId'), true);
  });

  it('names the keys whose initial value is not known', async () => {
    const { service, say } = await conversation({ seen: 1 }, 'unknown');
    await say('i1', { written: 1 });
    await say('i2', { written: 2, ambiguous: 1 });
    assert.deepEqual(await stateAt(service, { ...key, eventId: 'i1-0' }), {
      state: { seen: 1, written: 1 },
      unknownKeys: ['ambiguous'],
    });
    const { unknownKeys } = await rewind(service, { ...key, before: { invocationId: 'i2' } });
    assert.deepEqual(unknownKeys, ['ambiguous']);
    assert.deepEqual((await read(service)).state, { seen: 1, written: 1 });
  });

  it('names the unknown keys of a session that was imported without its initial state, and of its fork', async () => {
    const { service, say } = await conversation({ seen: 1, changed: 'old' });
    await say('i1', { written: 1 });
    await say('i2', { written: 2, changed: 'new' });
    const { events } = await read(service);
    const withIt = await exportSession(service, key, { initialState: true });
    const without = await exportSession(service, key);
    const at = { eventId: events[0]!.id };
    const before = { invocationId: 'i2' };
    const state = { seen: 1, written: 1 };

    await importSession(service, without, { sessionId: 'imported' });
    await fork(service, {
      ...key,
      sessionId: 'imported',
      newSessionId: 'fork',
      at: { eventId: events[1]!.id },
    });
    await service.createSession({ ...key, sessionId: 'created', events } as ImportedSessionRequest);
    for (const [sessionId, kept] of [
      ['imported', state],
      ['fork', state],
      ['created', { written: 1 }],
    ] as const) {
      const session = { ...key, sessionId };
      const expected = { state: kept, unknownKeys: ['changed'] };
      assert.deepEqual(await stateAt(service, { ...session, ...at }), expected, sessionId);
      const { unknownKeys } = await rewind(service, { ...session, before });
      assert.deepEqual(unknownKeys, ['changed'], sessionId);
      const rewound = await service.getSession(session);
      assert.deepEqual(rewound?.state, kept, sessionId);
    }

    const known = { ...key, sessionId: 'known' };
    await importSession(service, withIt, known);
    assert.deepEqual((await rewind(service, { ...known, before })).unknownKeys, []);
    assert.deepEqual((await service.getSession(known))?.state, { ...state, changed: 'old' });
  });

  it('undoes what was appended while it was computed', async () => {
    const { service, say } = await conversation();
    await say('i1');
    await say('i2', { k: 1 });
    let others = 3;
    await overtake(service, async () => {
      if (others > 0) await say('late', { k: (others -= 1) });
    });
    await rewind(service, { ...key, before: { invocationId: 'i2' } });
    assert.equal(others, 0);
    assert.deepEqual(await shown(service), ['i1']);
    assert.deepEqual((await read(service)).state, {});
  });

  it('is refused for unknown places, and writes nothing', async () => {
    const { service, say } = await conversation();
    await say('i1');
    const nameless = { id: 'none', invocationId: '', author: 'user' };
    await service.appendEvent({ session: await read(service), event: nameless });
    const refused: [request: () => Promise<unknown>, code: SessionErrorCode][] = [
      [() => rewind(service, { ...key, before: { invocationId: 'no' } }), 'not_found'],
      [() => rewind(service, { ...key, before: { invocationId: '' } }), 'not_found'],
      [() => rewind(service, { ...key, before: { eventId: 'no' } }), 'not_found'],
      [() => rewind(service, { ...key, before: { eventId: 'none' } }), 'invalid_argument'],
      [() => rewind(service, { ...key, before: undefined as never }), 'invalid_argument'],
      [() => rewind(service, { ...key, sessionId: 's2', before: { eventId: 'a' } }), 'not_found'],
      [
        () => rewind({} as SessionService, { ...key, before: { eventId: 'a' } }),
        'invalid_argument',
      ],
      [() => switchBranch(service, { ...key, branch: 'i1' }), 'not_found'],
      [() => undoRewind(service, key), 'not_found'],
      [() => stateAt(service, { ...key, eventId: 'no' }), 'not_found'],
      [() => fork(service, key), 'invalid_argument'],
      [() => fork(service, { ...key, at: { eventId: 'no' } }), 'not_found'],
      [() => fork(service, { ...key, before: { invocationId: 'no' } }), 'not_found'],
      [
        () => fork(service, { ...key, at: { eventId: 'none' }, before: { eventId: 'none' } }),
        'invalid_argument',
      ],
      [
        () => fork(service, { ...key, newSessionId: 's1', at: { eventId: 'none' } }),
        'already_exists',
      ],
    ];
    for (const [request, code] of refused) await assert.rejects(request, refusal(code));
    assert.equal((await read(service)).events.length, 2);
    assert.equal((await service.listSessions(key)).sessions.length, 1);
  });

  it('ends by its signal', async () => {
    const { service, say } = await conversation();
    await say('i1');
    const signal = AbortSignal.abort();
    const rewound = rewind(service, { ...key, before: { invocationId: 'i1' }, signal });
    await assert.rejects(rewound, refusal('aborted'));
    assert.deepEqual(await shown(service), ['i1']);
  });
});

describe('branches', () => {
  it('lists the alternatives of each turn, and switchBranch brings each back', async () => {
    const { service, say } = await conversation();
    await say('i1');
    await say('A', { k: 'A' });
    await rewind(service, { ...key, before: { invocationId: 'A' } });
    await say('B', { k: 'B' });
    await say('B2', { k: 'B2' });
    await rewind(service, { ...key, before: { invocationId: 'B' } });
    await say('C', { k: 'C' });

    const [turn, ...others] = await branches(service, key);
    assert.deepEqual(others, []);
    assert.equal(turn?.after, 'i1');
    const [a, b, c] = turn.alternatives;
    assert.deepEqual(
      turn.alternatives.map(({ invocationId, isShown }) => [invocationId, isShown]),
      [
        ['A', false],
        ['B', false],
        ['C', true],
      ],
    );
    assert.equal(c?.branch, undefined, 'nothing has ended it');

    await switchBranch(service, { ...key, branch: b?.branch ?? '' });
    assert.deepEqual(await shown(service), ['i1', 'B', 'B2']);
    assert.deepEqual((await read(service)).state, { k: 'B2' });
    await switchBranch(service, { ...key, branch: a?.branch ?? '' });
    assert.deepEqual(await shown(service), ['i1', 'A']);
    await say('A2', { k: 'A2' });

    const [again] = await branches(service, key);
    assert.deepEqual(
      again?.alternatives.map(({ isShown }) => isShown),
      [true, false, false],
    );
    const last = again.alternatives.find(({ invocationId }) => invocationId === 'C');
    await switchBranch(service, { ...key, branch: last?.branch ?? '' });
    assert.deepEqual(await shown(service), ['i1', 'C']);
    assert.deepEqual((await read(service)).state, { k: 'C' });
    await undoRewind(service, key);
    assert.deepEqual(await shown(service), ['i1', 'A', 'A2'], 'with what followed last');
  });

  it('has the undone turns behind the end of the transcript', async () => {
    const { service, say } = await conversation();
    assert.deepEqual(await branches(service, key), []);
    await say('i1');
    assert.deepEqual(await branches(service, key), []);
    const { event } = await rewind(service, { ...key, before: { invocationId: 'i1' } });
    const alternatives = [{ invocationId: 'i1', isShown: false, branch: event.invocationId }];
    assert.deepEqual(await branches(service, key), [{ alternatives }]);
  });
});

describe('fork', () => {
  it('makes a session of the history up to a place, with the state of that place', async () => {
    const { service, say } = await conversation({ initial: 1, 'user:cups': 1 });
    const first = await say('i1', { k: 1, 'user:cups': 2 });
    await say('i1', { k: 2 });
    await say('i2', { k: 3, initial: 2, 'user:cups': 3 });
    const places = [
      [{ at: { eventId: first } }, 1, { k: 1, initial: 1 }],
      [{ at: { invocationId: 'i1' } }, 2, { k: 2, initial: 1 }],
      [{ before: { invocationId: 'i2' } }, 2, { k: 2, initial: 1 }],
      [{ before: { eventId: first } }, 0, { initial: 1 }],
      [{ at: { invocationId: 'i2' } }, 3, { k: 3, initial: 2 }],
    ] as const;
    const { events } = await read(service);
    for (const [place, count, state] of places) {
      const forked = await fork(service, { ...key, ...place, title: 'Again' });
      assert.notEqual(forked.id, key.sessionId);
      assert.equal(forked.title, 'Again');
      assert.deepEqual(forked.events, events.slice(0, count));
      assert.deepEqual(forked.state, { ...state, 'user:cups': 3 });
      const last = events[count - 1];
      const parent = { sessionId: 's1', ...(last !== undefined && { eventId: last.id }) };
      assert.deepEqual(forked.parent, parent);
      const { sessions } = await service.listSessions(key);
      assert.deepEqual(sessions.find(({ id }) => id === forked.id)?.parent, parent);
    }
    assert.deepEqual(await service.getUserState(key), { cups: 3 });
    assert.deepEqual((await read(service)).events, events, 'the session is as it was');
  });
});
