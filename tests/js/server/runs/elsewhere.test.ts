// A message that another process runs, as its stored events tell: each row of the table of `js/server/runs/elsewhere.ts`.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  createEvent,
  type Event,
  InMemorySessionService,
  isSessionError,
  type NewEvent,
  type SessionService,
} from '../../../../js/index.js';
import { sessionHandler, type SessionHandlerOptions } from '../../../../js/server/index.js';
import { takeSettings } from '../../../../js/server/handler_options.js';
import { ServerRuns } from '../../../../js/server/runs/server_runs.js';
import { D1SessionService, DatabaseSessionService } from '../../../../js/service/database/index.js';
import { runElsewhere } from '../../../../js/server/runs/elsewhere.js';
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../../js/stores/http/protocol.js';
import { rewind } from '../../../../js/core/history/rewind.js';
import { storeMessageOnce } from '../../../../js/service/runs/agent/run_storage.js';
import { textOfMark, withoutIdempotencyKey } from '../../../../js/values/model/event/metadata.js';
import { echo, gate, says, textsOf } from '../../ui/live/runs/agents.js';
import { answerOf, type Asked, KEY, requestTo, SESSION } from '../fixture.js';
import { inOtherProcess } from '../other_process.js';
import { asked, echoing, EVENTS, messageJson, RUN } from './fixture.js';

const MAX_RUN_MS = 60_000;
/** A run of this age is over, wherever it was. */
const OLD_MS = MAX_RUN_MS + 31_000;

const answer = { author: 'guide', content: says('Green') };
const call = { name: 'look', args: {}, id: 'c1' };
const calling = { author: 'guide', content: { role: 'model', parts: [{ functionCall: call }] } };
const asking = { ...calling, longRunningToolIds: ['c1'] };
/** The codes of events that end a run without an answer. */
const ENDS = ['INVOCATION_ABORTED', 'RUN_FAILED', 'RUN_STOPPED', '429'];
const endWith = (errorCode: string) => ({ author: 'guide', errorCode });

/** Our own client asks. */
const OWN = { headers: { [PROTOCOL_HEADER]: PROTOCOL_VERSION } };

/** A session whose newest message `m1` another process began, and a handler of this process. */
async function serveElsewhere(
  given: {
    readonly ageMs?: number;
    readonly later?: readonly Omit<NewEvent, 'invocationId'>[];
    /** Default: of another start. `null`: a message without a mark. */
    readonly mark?: string | null;
  } & Partial<SessionHandlerOptions> = {},
) {
  const { ageMs = 1000, later = [], mark, ...options } = given;
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  const began = Date.now() - ageMs;
  const text = mark ?? textOfMark({ start: 'another', number: 1, began, hasChannel: false });
  const message = { ...messageJson('m1'), timestamp: 0 } as unknown as Event;
  if (mark === null) await service.appendEvent({ session, event: message });
  else await storeMessageOnce(service, session, message, { mark: text });
  /** Appends as the other process does. */
  const append = (event: Omit<NewEvent, 'invocationId'>) =>
    service.appendEvent({ session, event: { ...event, invocationId: 'i-m1' } });
  for (const event of later) await append(event);
  const { run, seen } = echoing();
  const errors: unknown[] = [];
  const handler = sessionHandler(service, {
    authorize: () => true,
    run,
    processes: 'many',
    maxRunMs: MAX_RUN_MS,
    onError: (error) => errors.push(error),
    ...options,
  });
  const ask = async (path: string, asked?: Asked) =>
    answerOf(await handler(requestTo(path, asked)));
  /** Asks another message, and waits for its answer. Returns what the session then has. */
  const askNext = async () => {
    const { status, headers, body } = await ask(EVENTS, asked('m2'));
    await handler.close();
    const { events } = (await service.getSession(KEY))!;
    const shown = events.map(({ errorCode, ...event }) => errorCode ?? textsOf([event])[0]);
    return { status, retryAfter: headers.get('retry-after'), body, shown };
  };
  const cancel = async () =>
    ((await ask(`${RUN}?messageId=m1`, { method: 'DELETE' })).body as { cancelled: boolean })
      .cancelled;
  const refusesOther = () =>
    assert.rejects(
      append(answer),
      (error) => isSessionError(error, 'stale_session') && error.staleReason === 'cancelled',
    );
  return { service, handler, ask, append, askNext, cancel, refusesOther, seen, errors };
}

describe('A message that another process may still answer', () => {
  it('refuses the next message, which is to be sent again after a second', async () => {
    const { askNext, seen } = await serveElsewhere();
    const { status, retryAfter, body, shown } = await askNext();
    assert.deepEqual(
      [status, retryAfter, (body as { code: string }).code],
      [409, '1', 'agent_running'],
    );
    assert.deepEqual([shown, seen], [['m1'], []]);
  });

  it('is not over because its agent has called a tool', async () => {
    const { askNext } = await serveElsewhere({ later: [calling] });
    assert.equal((await askNext()).status, 409);
  });

  it('is found also behind many events', async () => {
    const later = Array.from({ length: 200 }, () => calling);
    const { askNext } = await serveElsewhere({ later });
    assert.equal((await askNext()).status, 409);
  });

  it('is ended by a cancel, which frees the session; the other process stores nothing more', async () => {
    const { cancel, refusesOther, askNext } = await serveElsewhere();
    assert.equal(await cancel(), true);
    await refusesOther();
    assert.deepEqual((await askNext()).shown, ['m1', 'INVOCATION_ABORTED', 'm2', 'm2!']);
  });

  it('is ended by an edit, in one append', async () => {
    const { ask, append, handler, service } = await serveElsewhere();
    const message = { id: 'm2', invocationId: 'i2', content: { parts: [{ text: 'black' }] } };
    const marker = { id: 'k', invocationId: 'ik' };
    const body = { place: { turn: 'm1' }, marker, message, run: {} };
    assert.equal((await ask(`${SESSION}/rewind`, { body })).status, 200);
    await assert.rejects(append(answer), (error) => isSessionError(error, 'stale_session'));
    await handler.close();
    const config = { view: 'transcript' } as const;
    const { events } = (await service.getSession({ ...KEY, config }))!;
    assert.deepEqual(textsOf(events), ['black', 'black!']);
  });

  it('is the stored one if it is sent again, and runs once', async () => {
    const { ask, seen } = await serveElsewhere();
    const { status, headers } = await ask(EVENTS, asked('m1'));
    assert.equal(status, 200);
    assert.match(headers.get('adk-session-open')!, /^\d+ m1$/);
    assert.deepEqual(seen, []);
  });

  it('is told to a client that sends its rewind again', async () => {
    const { service, ask, seen } = await serveElsewhere({ later: [answer] });
    const go = gate();
    const other = sessionHandler(inOtherProcess(service), {
      authorize: () => true,
      run: echoing(go.opened).run,
      processes: 'many',
    });
    const message = { id: 'm2', invocationId: 'i2' };
    const marker = { id: 'k', invocationId: 'ik' };
    const rewind = { body: { place: { turn: 'm1' }, marker, message, run: {} } };
    const path = `${SESSION}/rewind`;
    const first = await answerOf(await other(requestTo(path, rewind)));
    const { status, headers } = await ask(path, rewind);
    go.open();
    await other.close();
    assert.match(first.headers.get('adk-session-run')!, / 1$/);
    assert.equal(status, 200);
    assert.match(headers.get('adk-session-open')!, /^\d+ m2$/);
    assert.deepEqual([headers.get('adk-session-run'), seen], [null, []]);
  });
});

describe('A message of another process with an answer, a question or an end', () => {
  const ways = {
    answer,
    asking,
    ...Object.fromEntries(ENDS.map((code) => [code, endWith(code)])),
  };
  for (const [name, event] of Object.entries(ways)) {
    it(`(${name}) lets the next message begin, without an end event`, async () => {
      const { askNext } = await serveElsewhere({ later: [event] });
      const { status, shown } = await askNext();
      assert.deepEqual([status, shown.length, shown.slice(2)], [200, 4, ['m2', 'm2!']]);
    });
  }

  it('is not cancelled behind its answer', async () => {
    const { cancel } = await serveElsewhere({ later: [answer] });
    assert.equal(await cancel(), false);
  });
});

describe('A message that another process has not answered in its time', () => {
  it('is ended by the next message in the same append, and the other process stores nothing more', async () => {
    const { askNext, refusesOther, seen } = await serveElsewhere({ ageMs: OLD_MS });
    const { status, shown } = await askNext();
    assert.deepEqual([status, shown], [200, ['m1', 'INVOCATION_ABORTED', 'm2', 'm2!']]);
    await refusesOther();
    assert.deepEqual(seen, ['m2']);
  });

  it('is cancelled', async () => {
    const { cancel } = await serveElsewhere({ ageMs: OLD_MS });
    assert.equal(await cancel(), true);
  });

  it('counts as begun now if the clock of the other process is ahead', async () => {
    const { askNext } = await serveElsewhere({ ageMs: -OLD_MS });
    assert.equal((await askNext()).status, 409);
  });
});

describe('A message that no other process runs', () => {
  it('without a mark, or with a random id in its place, lets the next one begin', async () => {
    for (const mark of [null, crypto.randomUUID()]) {
      const { status, shown } = await (await serveElsewhere({ mark })).askNext();
      assert.deepEqual([status, shown], [200, ['m1', 'm2', 'm2!']]);
    }
  });

  it('is over if this process began it and does not run it', () => {
    const mark = textOfMark({ start: 'a', number: 1, began: Date.now(), hasChannel: false });
    const customMetadata = { __adk_internal_run: mark };
    const stored = createEvent({ ...messageJson('m1'), customMetadata });
    const message = withoutIdempotencyKey(stored);
    const idOf = (start: string) => {
      const own = { start, startedAt: 0, maxRunMs: MAX_RUN_MS, isOneOfMany: true };
      return runElsewhere([message], own, Date.now())?.message.id;
    };
    assert.deepEqual([idOf('a'), idOf('b')], [undefined, 'm1']);
  });

  it('is over for a single process, and has no end event', async () => {
    const { askNext, errors } = await serveElsewhere({ processes: 'one' });
    const { status, shown } = await askNext();
    assert.deepEqual([status, shown, errors], [200, ['m1', 'm2', 'm2!'], []]);
  });
});

describe('Two processes that get a message each at the same time', () => {
  it('have one run', async () => {
    const service = new InMemorySessionService();
    for (let round = 0; round < 20; round += 1) {
      const sessionId = `s${round}`;
      await service.createSession({ ...KEY, sessionId });
      const go = gate();
      const { run, seen } = echoing(go.opened);
      const handlers = ['m1', 'm2'].map(() =>
        sessionHandler(inOtherProcess(service), {
          authorize: () => true,
          run,
          processes: 'many',
        }),
      );
      const path = EVENTS.replace('/s1/', `/${sessionId}/`);
      const answers = await Promise.all(
        handlers.map((handler, at) => handler(requestTo(path, asked(`m${at}`)))),
      );
      const statuses = answers.map(({ status }) => status);
      go.open();
      for (const handler of handlers) await handler.close();
      assert.deepEqual([statuses.toSorted(), seen.length], [[200, 409], 1]);
    }
  });
});

describe('The answers of a handler', () => {
  const NEWEST = {
    session: SESSION,
    'last events': `${SESSION}?numRecentEvents=1`,
    page: EVENTS,
    changes: `${SESSION}/changes?since=0&created=1`,
    'later changes': `${SESSION}/changes?since=1000000&created=1`,
  };
  for (const [name, path] of Object.entries(NEWEST)) {
    it(`(${name}) tell the message that another process may be answering, and for how long`, async () => {
      const { ask, append } = await serveElsewhere({ later: [calling] });
      const open = async () => (await ask(path, OWN)).headers.get('adk-session-open');
      const [leftMs, id] = (await open())!.split(' ');
      assert.equal(id, 'm1');
      const most = MAX_RUN_MS + 30_000;
      assert.ok(Number(leftMs) > most - 10_000 && Number(leftMs) < most, leftMs);
      await append(answer);
      assert.equal(await open(), '-');
    });
  }

  it('tell a message that this process answers: the client may have the feed of another one', async () => {
    const { open: go, opened } = gate();
    const { ask, service } = await serveElsewhere({ later: [answer], ...echoing(opened) });
    assert.equal((await ask(EVENTS, asked('m2'))).status, 200);
    const open = async () => (await ask(SESSION, OWN)).headers.get('adk-session-open');
    assert.match((await open())!, /^\d+ m2$/);
    go();
    while ((await service.getSession(KEY))!.events.length < 4) await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.equal(await open(), '-');
  });

  it('tell that nothing is open once the run must be over', async () => {
    const { ask } = await serveElsewhere({ ageMs: OLD_MS });
    assert.equal((await ask(SESSION, OWN)).headers.get('adk-session-open'), '-');
  });

  it('tell the transcript, and no message that was undone', async () => {
    const { ask, service } = await serveElsewhere();
    await rewind(service, { ...KEY, before: { eventId: 'm1' } });
    assert.equal((await ask(SESSION, OWN)).headers.get('adk-session-open'), '-');
  });

  it('say nothing of older pages, of a single process, and without an agent', async () => {
    const many = await serveElsewhere({ later: [calling] });
    const [single, without] = [
      await serveElsewhere({ processes: 'one' }),
      await serveElsewhere({ run: undefined }),
    ];
    const answers = [
      await many.ask(`${EVENTS}?direction=after&eventId=m1`, OWN),
      await single.ask(SESSION, OWN),
      await without.ask(SESSION, OWN),
    ];
    for (const { status, headers } of answers) {
      assert.deepEqual([status, headers.get('adk-session-open')], [200, null]);
    }
    assert.deepEqual(single.errors, []);
  });
});

describe('A handler for a single process', () => {
  it('learns from a message that began after it that there are several, and says so once', async () => {
    // The other process is to begin its message after this handler.
    const { ask, askNext, errors } = await serveElsewhere({ processes: 'one', ageMs: -1000 });
    for (let reads = 0; reads < 2; reads += 1) {
      const open = (await ask(SESSION, OWN)).headers.get('adk-session-open');
      assert.match(String(open), /^[0-9]+ m1$/);
    }
    const [error, ...more] = errors;
    assert.ok(isSessionError(error, 'invalid_argument') && error.key === 'processes');
    assert.deepEqual(more, []);
    assert.equal((await askNext()).status, 409);
  });
});

describe('The option processes', () => {
  /** Whether a handler reads a session before it admits a message. */
  const isMany = (service: SessionService, options: Partial<SessionHandlerOptions> = {}) => {
    const taken = takeSettings({ authorize: () => true, run: echo, ...options });
    return new ServerRuns({ ...taken, service, agent: echo }).isOneOfMany;
  };
  const one = new InMemorySessionService();
  const channelled = new DatabaseSessionService('sqlite::memory:', { channel: () => silent });
  const silent = { postMessage: () => undefined, close: () => undefined, onmessage: null };
  const binding = { prepare: () => ({ bind: () => ({}) }), batch: () => Promise.resolve([]) };

  it("is 'many' with waitUntil, with a channel and over D1, unless it is given", () => {
    const many = [
      isMany(one, { processes: 'many' }),
      isMany(one, { waitUntil: () => undefined }),
      isMany(channelled),
      isMany(new D1SessionService(binding)),
    ];
    assert.deepEqual(many, [true, true, true, true]);
    const single = [isMany(one), isMany(channelled, { processes: 'one' })];
    assert.deepEqual(single, [false, false]);
  });

  it('is one of both words', () => {
    assert.throws(
      () => isMany(one, { processes: 'two' as never }),
      (error) => isSessionError(error, 'invalid_argument') && error.key === 'processes',
    );
  });
});
