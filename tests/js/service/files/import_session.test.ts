import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import {
  exportSession,
  importSession,
  type SessionFile,
} from '../../../../js/service/files/index.js';
import { InMemorySessionService, SessionError, type StateShape } from '../../../../js/index.js';
import {
  APP,
  failure,
  fromJson,
  KEY,
  openOver,
  overStorages,
  says,
  show,
  stored,
  USER,
} from '../fixture.js';
import { MapStorage } from '../map_storage.js';
import { pythonSession, RECORDED } from './python_session.js';

const PYTHON = { casing: 'snake', timeUnit: 'seconds' } as const;
const T = 1.7e12;

/** A file of {@link KEY} with events of these deltas, a second apart. */
function file(state: StateShape | undefined, ...deltas: StateShape[]): SessionFile {
  const events = deltas.map((stateDelta, at) => ({
    id: `e${at}`,
    invocationId: 'i',
    author: 'user',
    timestamp: T + at * 1000,
    actions: { stateDelta },
  }));
  const lastUpdateTime = T + deltas.length * 1000;
  return { id: 'session', ...USER, ...(state && { state }), events, lastUpdateTime };
}

const exportedKey = { appName: 'shop', userId: 'ada', sessionId: 's-1' };

overStorages('An imported session', (open) => {
  it('equals the exported session, in the recorded dialect', async () => {
    const service = await open();
    await importSession(service, JSON.stringify(pythonSession));
    const file = await exportSession(service, exportedKey, PYTHON);
    // Python's nulls for what is not there, and what lives for one invocation only.
    const expected = fromJson(pythonSession) as SessionFile & typeof pythonSession;
    const [, second] = expected.events as SessionFile[];
    delete second?.branch;
    Object.assign(second!, {
      actions: {
        state_delta: { asked: false, 'user:user_name': 'Ada' },
        artifact_delta: { 'my_file.txt': 0 },
        skip_summarization: true,
      },
    });
    assert.deepEqual(file, expected);
  });

  it('equals a session recorded by Python, exactly', async () => {
    const service = await open();
    const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as SessionFile;
    const { id: sessionId, appName, userId } = await importSession(service, recorded);
    const file = await exportSession(service, { appName, userId, sessionId }, PYTHON);
    assert.deepEqual(file, recorded);
    assert.equal(JSON.stringify(file.events), JSON.stringify(recorded.events));
  });

  it('has the times of the exported session, also those of January 1970', async () => {
    const service = await open();
    const session = await service.createSession(KEY);
    for (const timestamp of [1e9, 1_000_000_007])
      await service.appendEvent({ session, event: { ...says(`of ${timestamp}`), timestamp } });
    const exported = await exportSession(service, KEY);
    const target = new InMemorySessionService();
    const { events, lastUpdateTime } = await importSession(target, exported);
    const times = [...events.map(({ timestamp }) => timestamp), lastUpdateTime];
    assert.deepEqual(times, [1e9, 1_000_000_007, session.lastUpdateTime]);
  });

  it('is returned as a handle that can append', async () => {
    const service = await open();
    const session = await importSession(service, file({ a: 2 }, { a: 1 }, {}));
    assert.deepEqual(session, await stored(service));
    await service.appendEvent({ session, event: says('next', { a: 3 }) });
    assert.deepEqual(await stored(service), session);
    assert.equal(session.events.length, 3);
  });

  it('has the state of the file, whatever its events produce', async () => {
    const service = await open();
    const state = { fixed: 1, changed: 'by hand', nested: { a: [1] } };
    const deltas = [{ changed: 1, gone: 1 }, {}, { nested: { a: [] }, gone: 2 }];
    await importSession(service, file(state, ...deltas));
    const { events, state: found, lastUpdateTime } = await stored(service);
    assert.deepEqual(found, state);
    assert.deepEqual(
      events.map(({ id, actions }) => [id, actions.stateDelta]),
      deltas.map((delta, at) => [`e${at}`, delta]),
    );
    assert.equal(lastUpdateTime, T + 3000);
  });

  it('has the state that its events produce if the file has none', async () => {
    const service = await open();
    await importSession(service, file(undefined, { a: 1 }, { a: 2, b: 1, 'user:u': 1 }));
    assert.deepEqual((await stored(service)).state, { a: 2, b: 1, 'user:u': 1 });
  });

  it('has the state of the file, though each of its events sets another value', async () => {
    const service = await open();
    const contradiction = file({ a: 2, 'user:u': 1 }, { a: 1 });
    await importSession(service, contradiction);
    const { state, events } = await stored(service);
    assert.deepEqual(state, { a: 2, 'user:u': 1 });
    assert.deepEqual(events[0]?.actions.stateDelta, { a: 1 });
  });

  it('keeps where it was forked from, in any dialect', async () => {
    const service = await open();
    const parent = { sessionId: 'origin', eventId: 'e1' };
    await importSession(service, { ...file({ a: 1 }), parent });
    const exported = await exportSession(service, KEY, PYTHON);
    const { id } = await importSession(service, exported, { sessionId: 'copy' });
    assert.deepEqual((await service.getSession({ ...KEY, sessionId: id }))?.parent, parent);
    const damaged = { ...file({ a: 1 }), id: 'damaged', parent: { eventId: 'e1' } };
    await assert.rejects(importSession(service, damaged), { code: 'invalid_argument' });
  });

  it('gets an id if it has none, and so do its events', async () => {
    const service = await open();
    const anonymous = file({ a: 2 }, { a: 1 }, {});
    delete anonymous.id;
    for (const event of anonymous.events as SessionFile[]) delete event.id;
    const session = await importSession(service, anonymous);
    const found = await stored(service, { ...USER, sessionId: session.id });
    assert.equal(new Set(found.events.map(({ id }) => id)).size, 2);
    assert.deepEqual(found.state, { a: 2 });
  });

  it('drops temp: keys', async () => {
    const service = await open();
    await importSession(service, file({ a: 1, 'temp:t': 1 }, { 'temp:u': 1 }));
    const { state, events } = await stored(service);
    assert.deepEqual(state, { a: 1 });
    assert.deepEqual(events[0]?.actions.stateDelta, {});
  });

  it('with an existing id changes nothing', async () => {
    const service = await open();
    await service.createSession({ ...KEY, state: { mine: 1, 'user:u': 'mine' } });
    const before = await stored(service);
    const other = file({ 'user:u': 'other', 'user:v': 1, 'app:p': 1, mine: 2 }, { mine: 2 });
    await failure(importSession(service, other), 'already_exists');
    assert.deepEqual(await stored(service), before);
    assert.deepEqual(await service.getAppState(APP), {});
  });

  it('can have 10,000 events', async () => {
    const service = await open();
    const deltas = Array.from({ length: 10_000 }, (_, at) => ({ [`key${at % 10}`]: at }));
    const long = file(undefined, ...deltas);
    await importSession(service, JSON.stringify(long));
    const { events } = await exportSession(service, KEY);
    assert.deepEqual(events, long.events);
  });
});

overStorages('user: and app: keys of a file', (open) => {
  const live = { 'user:u': 'live', 'app:p': 'live' };
  const state = { 'user:u': 'file', 'user:v': 'file', 'app:p': 'file', 'app:q': 'file', own: 1 };
  const deltas = [{ 'user:u': 'delta', 'user:w': 'delta', 'app:p': 'delta', own: 1 }, {}];
  const cases: [policy: 'fill' | 'keep' | undefined, expected: StateShape][] = [
    [undefined, { ...live, 'user:v': 'file', 'app:q': 'file', own: 1 }],
    ['fill', { ...live, 'user:v': 'file', 'app:q': 'file', own: 1 }],
    ['keep', { ...live, own: 1 }],
  ];
  for (const [sharedState, expected] of cases) {
    it(`are written according to sharedState: ${show(sharedState)}`, async () => {
      const service = await open();
      await service.updateState({ ...USER, stateDelta: live });
      const session = await importSession(service, file(state, ...deltas), { sharedState });
      assert.deepEqual((await stored(service)).state, expected);
      assert.deepEqual(session.state, expected);
      assert.deepEqual((await stored(service)).events[0]?.actions.stateDelta, deltas[0]);
    });

    it(`are written without an event to carry them, according to sharedState: ${show(sharedState)}`, async () => {
      const service = await open();
      await service.updateState({ ...USER, stateDelta: live });
      await importSession(service, file(state, deltas[0]!), { sharedState });
      assert.deepEqual((await stored(service)).state, expected);
    });

    it(`are written without any event, according to sharedState: ${show(sharedState)}`, async () => {
      const service = await open();
      await service.updateState({ ...USER, stateDelta: live });
      await importSession(service, file(state), { sharedState });
      assert.deepEqual((await stored(service)).state, expected);
    });
  }
});

describe('An import that fails', () => {
  it('while it is stored leaves no session, and changes no shared key', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const create = storage.create.bind(storage);
    storage.create = () => Promise.reject(new SessionError('quota_exceeded', 'No more room.'));
    const whole = file({ a: 1, 'user:u': 1 }, { b: 1, 'app:p': 1 });
    await failure(importSession(service, whole), 'quota_exceeded');
    assert.equal(await service.getSession(KEY), undefined);
    assert.deepEqual(await service.getUserState(USER), {});
    assert.deepEqual(await service.getAppState(APP), {});
    storage.create = create;
    storage.append = () => assert.fail('an import is one creation');
    await importSession(service, whole);
    assert.deepEqual((await stored(service)).state, { a: 1, 'user:u': 1 });
  });

  it('because of a value that JSON cannot represent leaves no session', async () => {
    const service = new InMemorySessionService();
    const deep = JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) as unknown;
    await failure(importSession(service, file(undefined, {}, { deep })), 'unserializable');
    assert.equal((await service.listSessions(APP)).totalItems, 0);
  });

  it('because of its signal leaves no session', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    await failure(importSession(service, file({}, {}), { signal: AbortSignal.abort() }), 'aborted');
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('because of an unknown policy changes nothing', async () => {
    const service = new InMemorySessionService();
    const sharedState = 'merge' as 'keep';
    const error = await failure(
      importSession(service, file({}), { sharedState }),
      'invalid_argument',
    );
    assert.equal(error.key, 'sharedState');
  });
});

describe('A value that nests too deep', () => {
  const levels = 100_000;
  const deep = '['.repeat(levels) + ']'.repeat(levels);
  const event = (delta: string): string =>
    `{"id":"e","timestamp":1.7e12,"actions":{"stateDelta":${delta}}}`;

  for (const [place, state, delta] of [
    ['the state', `{"k":${deep}}`, '{}'],
    ['a delta', '{"k":1}', `{"k":${deep}}`],
    ['both', `{"k":${deep}}`, `{"k":${deep}}`],
  ] as const) {
    it(`in ${place} of a file is unserializable, and nothing is stored`, async () => {
      const service = new InMemorySessionService();
      const names = '"id":"session","appName":"app","userId":"user"';
      const text = `{${names},"state":${state},"events":[${event(delta)}]}`;
      await failure(importSession(service, text), 'unserializable');
      assert.equal(await service.getSession(KEY), undefined);
    });
  }
});

describe('An export', () => {
  it('of a missing session fails with not_found', async () => {
    const error = await failure(exportSession(new InMemorySessionService(), KEY), 'not_found');
    assert.match(error.message, /"session"/);
  });

  it('of an invalid key fails with invalid_argument', async () => {
    await failure(
      exportSession(new InMemorySessionService(), undefined as never),
      'invalid_argument',
    );
  });

  it('of an invalid sessionId fails with invalid_argument', async () => {
    for (const sessionId of [5n, 5, '', null, {}] as never[]) {
      const exported = exportSession(new InMemorySessionService(), { ...KEY, sessionId });
      assert.equal((await failure(exported, 'invalid_argument')).key, 'sessionId');
    }
  });

  it('can be aborted', async () => {
    const service = new InMemorySessionService();
    await service.createSession(KEY);
    await failure(exportSession(service, KEY, { signal: AbortSignal.abort() }), 'aborted');
  });
});
