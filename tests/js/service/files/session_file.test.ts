import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError } from '../../../../js/values/errors/errors.js';
import {
  sessionFromFile,
  sessionToFile,
  type ReadSessionOptions,
  type SessionFile,
} from '../../../../js/service/files/index.js';
import { EVENT_OF_GO, GO_EVENT } from './go_event.js';
import { pythonSession } from './python_session.js';
import { initialState } from '../../../../js/service/files/import_session.js';

/** A session file with these times as its events'. */
function withTimes(...times: unknown[]): SessionFile {
  const events = times.map((timestamp, at) => ({ id: `e${at}`, timestamp }));
  return { id: 's', appName: 'a', userId: 'u', state: {}, events };
}

function timesOf(file: SessionFile, options?: ReadSessionOptions): number[] {
  return sessionFromFile(file, options).events.map(({ timestamp }) => timestamp);
}

function assertRefused(
  read: () => unknown,
  expected: { path?: string; key?: string; message: RegExp },
): void {
  assert.throws(read, (error) => {
    assert.ok(isSessionError(error, 'invalid_argument'), String(error));
    assert.match(error.message, expected.message);
    if (expected.path !== undefined) assert.equal(error.path, expected.path);
    if (expected.key !== undefined) assert.equal(error.key, expected.key);
    return true;
  });
}

describe('A recorded session', () => {
  it('has its fields renamed, and user data kept exactly', () => {
    const { events, ...session } = sessionFromFile(pythonSession);
    assert.deepEqual(session, {
      id: 's-1',
      appName: 'shop',
      userId: 'ada',
      state: { seed_key: { nested_key: 1 }, 'user:user_name': 'Ada' },
      lastUpdateTime: 1741218417250,
    });
    assert.deepEqual(events[1], {
      id: 'e2',
      invocationId: 'i1',
      author: 'shop_agent',
      timestamp: 1741218415500,
      longRunningToolIds: [],
      customMetadata: { my_key: { in_ner: 1 } },
      usageMetadata: { promptTokenCount: 3 },
      content: {
        role: 'model',
        parts: [{ functionCall: { id: 'c1', name: 'find_item', args: { item_id: 'a_1' } } }],
      },
      actions: {
        stateDelta: { asked: false, 'user:user_name': 'Ada', 'temp:scratch_pad': 1 },
        artifactDelta: { 'my_file.txt': 0 },
        skipSummarization: true,
      },
      my_field: { not_ours: 1 },
    });
  });

  it("is read with the names of adk-go's types, which Agent Engine returns before adk-go 2.2", () => {
    const { events } = sessionFromFile({
      user_id: 'ada',
      last_update_time: 1770000001.5,
      app_name: 'shop',
      id: 's1',
      state: {},
      events: [GO_EVENT],
    });
    assert.deepEqual(events, [EVENT_OF_GO]);
  });

  it('keeps fields of its own that look like those of adk-go', () => {
    const event = { id: 'e1', timestamp: 1, InvocationID: 'mine', Content: '' };
    const { events } = sessionFromFile(
      { ...withTimes(), events: [event] },
      { timeUnit: 'milliseconds' },
    );
    const { InvocationID, Content } = { ...events[0] } as typeof event;
    assert.deepEqual({ InvocationID, Content }, { InvocationID: 'mine', Content: '' });
  });

  it('can be read from text, with or without a byte order mark', () => {
    const session = sessionFromFile(pythonSession);
    assert.deepEqual(sessionFromFile(JSON.stringify(pythonSession)), session);
    assert.deepEqual(sessionFromFile(`\ufeff${JSON.stringify(pythonSession)}`), session);
  });

  it("is read with null for NaN and infinities, which Python's json module writes", () => {
    const text = JSON.stringify({ ...pythonSession, state: { n: 'N', text: 'NaN' } });
    const { state } = sessionFromFile(text.replace('"N"', '[NaN, -Infinity]'));
    assert.deepEqual(state, { n: [null, null], text: 'NaN' });
  });

  it('is the same in each of the four dialects', () => {
    const session = sessionFromFile(pythonSession);
    for (const casing of ['camel', 'snake'] as const) {
      for (const timeUnit of ['milliseconds', 'seconds'] as const) {
        const file = sessionToFile(session, { casing, timeUnit });
        assert.deepEqual(sessionFromFile(JSON.stringify(file)), session);
      }
    }
  });

  it('takes replacement names from the options', () => {
    const names = { appName: 'b', userId: 'v', sessionId: 't' };
    const { appName, userId, id } = sessionFromFile(pythonSession, names);
    assert.deepEqual({ appName, userId, sessionId: id }, names);
    assert.equal(sessionFromFile({ events: [] }, names).id, 't');
  });

  it('has the state that its events produce if the file has none', () => {
    const file = { ...pythonSession, state: undefined };
    assert.deepEqual(sessionFromFile(file).state, { 'user:user_name': 'Ada' });
  });

  it('takes lastUpdateTime from its latest event if the file has none', () => {
    assert.equal(sessionFromFile(withTimes(1.7e9 + 5, 1.7e9)).lastUpdateTime, 1.7e12 + 5000);
    assert.equal(sessionFromFile(withTimes()).lastUpdateTime, 0);
  });

  it('gets empty actions for events without any, as an append would add them', () => {
    const [event] = sessionFromFile(withTimes(1.7e12)).events;
    assert.deepEqual(event?.actions, {
      stateDelta: {},
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    });
  });

  it('has an initial state of the keys that no event explains', () => {
    assert.deepEqual(initialState(sessionFromFile(pythonSession)), { seed_key: { nested_key: 1 } });
  });

  it('does not change when fields of its file are deleted', () => {
    const session = sessionFromFile(pythonSession);
    const before = JSON.stringify(session);
    const file = sessionToFile(session, { casing: 'snake', timeUnit: 'seconds' });
    for (const event of file.events as SessionFile[]) delete event.actions;
    assert.equal(JSON.stringify(session), before);
  });
});

describe('A parsed file', () => {
  it('whose getter throws is an invalid argument, with what was thrown', () => {
    const thrown = new Error('mine');
    const file = {
      ...pythonSession,
      get events(): never {
        throw thrown;
      },
    };
    const check = (error: unknown): boolean =>
      isSessionError(error, 'invalid_argument') && error.key === 'file' && error.cause === thrown;
    assert.throws(() => sessionFromFile(file), check);
  });
});

describe('The times of a file', () => {
  it('are recognised as seconds or milliseconds', () => {
    assert.deepEqual(
      timesOf(withTimes(1741218414.968405, 1.7e9, 0)),
      [1741218414968.405, 1.7e12, 0],
    );
    assert.deepEqual(
      timesOf(withTimes(1741218414968.405, 1.7e12, 0)),
      [1741218414968.405, 1.7e12, 0],
    );
    assert.deepEqual(timesOf(withTimes(0, 0)), [0, 0]);
  });

  it('are recognised by one unambiguous time for all, even by lastUpdateTime', () => {
    assert.deepEqual(timesOf(withTimes(1000, 1.7e12)), [1000, 1.7e12]);
    assert.deepEqual(timesOf({ ...withTimes(1000), last_update_time: 1.7e9 }), [1e6]);
    assert.deepEqual(timesOf({ ...withTimes(1000), lastUpdateTime: 1.7e12 }), [1000]);
  });

  it('require the option timeUnit if they are ambiguous', () => {
    const file = withTimes(0, 1000);
    const message = /events\[1\]\.timestamp is 1000.*timeUnit: 'seconds' or 'milliseconds'/;
    assertRefused(() => sessionFromFile(file), { key: 'timeUnit', message });
    assert.deepEqual(timesOf(file, { timeUnit: 'seconds' }), [0, 1e6]);
    assert.deepEqual(timesOf(file, { timeUnit: 'milliseconds' }), [0, 1000]);
  });

  it('have one unit in all events, which the latest tells', () => {
    assert.deepEqual(timesOf(withTimes(1.7e12, 1.7e9)), [1.7e12, 1.7e9]);
    assert.deepEqual(timesOf(withTimes(1.7e9, 1000)), [1.7e12, 1e6]);
    const file = { ...withTimes(1.7e9, 1e9), lastUpdateTime: 1.7e12 };
    assert.deepEqual(timesOf(file), [1.7e9, 1e9]);
  });

  it('are milliseconds in the events and seconds in lastUpdateTime in a file of adk-java', () => {
    const file = { ...withTimes(1.7e12 + 1, 1000), lastUpdateTime: 1.7e9 + 0.25 };
    assert.deepEqual(timesOf(file), [1.7e12 + 1, 1000]);
    assert.equal(sessionFromFile(file).lastUpdateTime, 1.7e12 + 250);
    // A stated unit is that of all times.
    assert.equal(sessionFromFile(file, { timeUnit: 'milliseconds' }).lastUpdateTime, 1.7e9 + 0.25);
  });

  it('are texts in the events and seconds in lastUpdateTime in an answer of adk-go for Agent Engine', () => {
    const file = {
      ...withTimes('2025-03-05T22:53:34.968405123-02:00'),
      lastUpdateTime: 1741218414.968,
    };
    assert.deepEqual(timesOf(file), [1741222414968.405]);
    assert.deepEqual(timesOf(file, { timeUnit: 'seconds' }), [1741222414968.405]);
    assert.equal(sessionFromFile(file).lastUpdateTime, 1741218414968);
  });

  it('are only lastUpdateTime in a response of the REST of adk-go, so each event gets it', () => {
    const { events, ...file } = withTimes(1, 2) as { events: SessionFile[] };
    for (const event of events) delete event.timestamp;
    const go = { ...file, events, lastUpdateTime: 1.7e9 };
    assert.deepEqual(timesOf(go), [1.7e12, 1.7e12]);
    assertRefused(() => sessionFromFile({ ...file, events }), {
      path: 'events[0].timestamp',
      message: /it is missing/,
    });
  });

  it('are read in the unit of the option timeUnit, whatever their values', () => {
    assert.deepEqual(timesOf(withTimes(1.7e9), { timeUnit: 'milliseconds' }), [1.7e9]);
    const options = { timeUnit: 'seconds' } as const;
    const message = /in the file's unit; it is 1700000000000/;
    assertRefused(() => timesOf(withTimes(1.7e12), options), {
      path: 'events[0].timestamp',
      message,
    });
  });

  it('include those of compactions, in both ADKs', () => {
    const file = withTimes(1.7e9, 1.7e9 + 9) as { events: SessionFile[] };
    Object.assign(file.events[0]!, {
      actions: { compaction: { start_timestamp: 1.7e9 + 1, end_timestamp: 1.7e9 + 2 } },
    });
    Object.assign(file.events[1]!, { isCompacted: true, startTime: 1.7e9, endTime: 1.7e9 + 1 });
    const { events } = sessionFromFile(file);
    const [python, typeScript] = events as unknown as Record<string, unknown>[];
    const compaction = { startTimestamp: 1.7e12 + 1000, endTimestamp: 1.7e12 + 2000 };
    assert.deepEqual(python?.actions, { compaction, stateDelta: {} });
    assert.equal(typeScript?.startTime, 1.7e12);
    assert.equal(typeScript?.endTime, 1.7e12 + 1000);
  });

  it('exclude unknown fields with the same names', () => {
    const file = withTimes(1.7e9) as { events: SessionFile[] };
    Object.assign(file.events[0]!, { startTime: '9:30', endTime: 10 });
    const [event] = sessionFromFile(file).events as unknown as Record<string, unknown>[];
    assert.equal(event?.startTime, '9:30');
    assert.equal(event?.endTime, 10);
  });
});

describe('A malformed session file is refused with the path', () => {
  const good = { id: 'e', timestamp: 1.7e12 };
  const event = (fields: SessionFile): SessionFile => {
    return { ...withTimes(), events: [good, { ...good, id: 'f', ...fields }] };
  };
  const cases: [path: string, file: unknown, message: RegExp][] = [
    ['', '{"id": ', /^The session file is not JSON: /],
    ['', '[]', /must be an object; it is an array/],
    ['', null, /must be an object; it is null/],
    ['appName', { ...withTimes(), appName: undefined }, /it is missing/],
    ['userId', { ...withTimes(), userId: '' }, /1 to 512 bytes/],
    ['id', { ...withTimes(), id: 7 }, /it is a number/],
    ['state', { ...withTimes(), state: [] }, /must be an object/],
    ['titel', { ...withTimes(), titel: 't' }, /not a field of a session/],
    ['events', { ...withTimes(), events: {} }, /must be a list/],
    ['events', { ...withTimes(), events: null }, /must be a list/],
    ['events[0]', { ...withTimes(), events: ['e'] }, /must be an object; it is a string/],
    [
      'events[1].timestamp',
      event({ timestamp: undefined }),
      /must be a number or an RFC 3339 time; it is missing/,
    ],
    [
      'events[1].timestamp',
      event({ timestamp: '2025-03-05' }),
      /must be a number or an RFC 3339 time; it is a string/,
    ],
    ['events[1].timestamp', event({ timestamp: -1 }), /must be a time from 1970 to 9999/],
    ['events[1].timestamp', event({ timestamp: 1e300 }), /must be a time from 1970 to 9999/],
    ['events[1].id', event({ id: 7 }), /it is a number/],
    ['events[1].id', event({ id: 'e' }), /also the id of events\[0\]/],
    ['events[1].partial', event({ partial: true }), /never stored/],
    ['events[1].actions', event({ actions: [] }), /must be an object/],
    ['events[1].actions.stateDelta', event({ actions: { state_delta: 1 } }), /must be an object/],
    [
      'lastUpdateTime',
      { ...withTimes(), lastUpdateTime: 'now' },
      /must be a number or an RFC 3339 time; it is a string/,
    ],
  ];
  for (const [path, file, message] of cases) {
    it(`${path || 'file'}: ${message.source}`, () => {
      assertRefused(() => sessionFromFile(file as SessionFile), { path, message });
    });
  }

  it('and so are unknown dialects', () => {
    const session = sessionFromFile(pythonSession);
    const timeUnit = 'minutes' as 'seconds';
    assertRefused(() => sessionFromFile(pythonSession, { timeUnit }), {
      key: 'timeUnit',
      message: /"minutes"/,
    });
    assertRefused(() => sessionToFile(session, { timeUnit }), {
      key: 'timeUnit',
      message: /"minutes"/,
    });
    const casing = 'kebab' as 'snake';
    assertRefused(() => sessionToFile(session, { casing }), { key: 'casing', message: /"kebab"/ });
  });
});
