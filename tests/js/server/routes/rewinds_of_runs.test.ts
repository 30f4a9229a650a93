// Rewinds over HTTP while the handler's agent runs. The client may run agents and append.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { mockedTimeOf } from '../../mocked_time.js';
import type { Content, Event, NewEvent } from '../../../../js/index.js';
import {
  type SessionHandler,
  sessionHandler,
  type SessionHandlerOptions,
} from '../../../../js/server/index.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { overtake } from '../../core/history/writes/overtaken.js';
import { gate, says, textsOf } from '../../ui/live/runs/agents.js';
import { ALL_RIGHTS, answerOf, type Ask, KEY, requestTo, serve, SESSION } from '../fixture.js';

const EVENTS = `${SESSION}/events`;
const REWIND = `${SESSION}/rewind`;
const ENDED = 'INVOCATION_ABORTED';

const messageJson = (id: string, invocationId = `i-${id}`) => ({
  id,
  invocationId,
  author: 'user',
  content: { role: 'user', parts: [{ text: id }] },
});
const asked = (id: string) => ({ body: { events: [messageJson(id)], run: {} } });
const marker = { id: 'r1', invocationId: 'i-r1' };
/** The rewind that sends `m1` again as `m2`. */
const again = {
  place: { turn: 'm1' },
  marker,
  message: { id: 'm2', invocationId: 'i-m2' },
};

const handlers: SessionHandler[] = [];

/** Serves a session whose agent streams a partial event to each message, and waits. */
async function serveStreaming(options: Partial<SessionHandlerOptions> = {}) {
  const go = gate();
  const signals = new Map<string, AbortSignal>();
  const seen: string[] = [];
  const run: RunAgent = async function* ({ message, signal }) {
    seen.push(message.id);
    signals.set(message.id, signal);
    yield { author: 'guide', partial: true, content: says('Gr') };
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (!signal.aborted) await Promise.race([go.opened, aborted]);
    yield { author: 'guide', content: says(`${message.id}!`) };
  };
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const served = serve({ authorize: () => true, run, onError, ...options });
  const { service, handler } = served;
  handlers.push(handler);
  await service.createSession(KEY);
  const appends: string[][] = [];
  await overtake(service, (events) => appends.push(events.map(nameOf)));
  const names = async (): Promise<string[]> => (await service.getSession(KEY))!.events.map(nameOf);
  return { ...served, names, appends, signals, seen, errors, go };
}

afterEach(async () => {
  await Promise.all(handlers.splice(0).map((handler) => handler.close({ graceMs: 0 })));
});

const isAborted = (signals: Map<string, AbortSignal>, id: string): boolean | undefined =>
  signals.get(id)?.aborted;

/** The name of an event in these tests. The texts and end events of a run have ids of their own. */
function nameOf({ id, errorCode, interrupted, author, content }: NewEvent): string {
  if (errorCode !== undefined) return errorCode;
  if (interrupted === true) return 'interrupted';
  return author === 'user' ? id! : (content as Content).parts![0]!.text!;
}

describe('A rewind during a run', () => {
  /** Serves a session whose first message has its answer, and that stores `m3` only when the test says so. */
  async function serveStoring(options: Partial<SessionHandlerOptions> = {}) {
    const served = await serveStreaming(options);
    const { service, ask, names, go } = served;
    await ask(EVENTS, asked('m1'));
    go.open();
    while ((await names()).length < 2) await sleep(5);
    const storing = gate();
    const { appendEvent } = service;
    service.appendEvent = async (request) => {
      if (request.event.id === 'm3') await storing.opened;
      return Reflect.apply(appendEvent, service, [request]);
    };
    return { ...served, storing };
  }

  it('refuses a message that is stored only later, if there are several processes', async () => {
    await mockedTimeOf(async () => {
      const { ask, names, storing } = await serveStoring({ processes: 'many' });
      const asking = ask(EVENTS, asked('m3'));
      assert.equal((await ask(REWIND, { body: { ...again, run: {} } })).status, 200);
      storing.open();
      const { status, body } = await asking;
      assert.deepEqual([status, (body as { code: string }).code], [409, 'agent_running']);
      assert.ok(!(await names()).includes('m3'));
    });
  });

  it('undoes a message that is being stored when it comes, and does not run beside it', async () => {
    const { ask, names, seen, storing } = await serveStoring();
    const asking = ask(EVENTS, asked('m3'));
    const rewinding = ask(REWIND, { body: { ...again, run: {} } });
    await sleep(50);
    storing.open();
    assert.deepEqual([(await asking).status, (await rewinding).status], [200, 200]);
    while ((await names()).at(-1) !== 'm2!') await sleep(5);
    const stored = await names();
    assert.ok(stored.indexOf('m3') < stored.indexOf('m2'), String(stored));
    assert.equal(seen.at(-1), 'm2');
  });

  it('are refused if the new message has no parts, which an agent could not answer', async () => {
    const { ask, names, seen } = await serveStreaming();
    await ask(EVENTS, { body: { events: [messageJson('m1')] } });
    const message = { ...again.message, content: { role: 'user', parts: [] } };
    const { status, body } = await ask(REWIND, { body: { ...again, message, run: {} } });
    assert.deepEqual([status, (body as { key: string }).key], [400, 'message.content']);
    assert.deepEqual([await names(), seen], [['m1'], []]);
  });

  it('that is refused leaves the run running, and stores nothing', async () => {
    const { ask, names, signals, go } = await serveStreaming();
    await ask(EVENTS, asked('m1'));
    const place = { before: { invocationId: 'i-m1' } };
    for (const run of [undefined, {}])
      for (const [body, status] of [
        [{ ...again, place: { turn: 'none' }, run }, 404],
        [{ ...again, message: { id: 'm1', invocationId: 'i-m2' }, run }, 400],
        [{ ...again, message: { id: 'm2' }, run }, 400],
        [{ place, marker, events: [{ ...messageJson('a1'), author: 'guide' }] }, 403],
        [{ place: { before: { invocationId: 'none' } }, marker }, 404],
      ] as const) {
        assert.equal((await ask(REWIND, { body })).status, status, JSON.stringify(body));
      }
    assert.equal(isAborted(signals, 'm1'), false);
    assert.deepEqual(await names(), ['m1']);
    go.open();
    await sleep(5);
    assert.deepEqual(await names(), ['m1', 'm1!']);
  });

  it('stores the texts, the end event, the marker and the message in one append', async () => {
    const { ask, service, names, appends, signals, seen, errors, go } = await serveStreaming();
    await ask(EVENTS, asked('m1'));
    const since = service.revisionOf((await service.getSession(KEY))!)!;
    assert.equal((await ask(REWIND, { body: { ...again, run: {} } })).status, 200);
    const stored = ['interrupted', ENDED, 'r1', 'm2'];
    assert.deepEqual(appends, [stored]);
    const { events = [] } = await service.listChanges({ ...KEY, since });
    assert.deepEqual(
      events.map(({ event }) => nameOf(event)),
      stored,
    );
    const times = events.map(({ event }) => event.timestamp);
    assert.deepEqual(
      times,
      [...new Set(times)].sort((a, b) => a - b),
      'each event is later than the one before',
    );
    assert.deepEqual([isAborted(signals, 'm1'), isAborted(signals, 'm2')], [true, false]);
    go.open();
    await sleep(5);
    assert.deepEqual(await names(), ['m1', ...stored, 'm2!']);
    assert.deepEqual([seen, errors], [['m1', 'm2'], []]);
  });

  it('shows the undone branch as cancelled', async () => {
    const { ask } = await serveStreaming();
    await ask(EVENTS, asked('m1'));
    await ask(REWIND, { body: again });
    await ask(REWIND, { body: { place: { branch: marker.invocationId } } });
    const { body } = await ask(`${SESSION}?view=transcript`);
    const shown = (body as { events: Event[] }).events;
    assert.deepEqual(shown.map(nameOf), ['m1', 'interrupted', ENDED]);
    assert.deepEqual(textsOf(shown), ['m1', 'Gr', undefined]);
  });

  it('that does not undo its message has the texts and the end event behind the marker', async () => {
    const { ask, service, appends, signals } = await serveStreaming();
    await ask(EVENTS, asked('m1'));
    const session = (await service.getSession(KEY))!;
    await service.appendEvents({ session, events: [messageJson('m0')] });
    const body = { place: { turn: 'm0' }, marker, message: again.message };
    const { body: rewound } = await ask(REWIND, { body });
    assert.deepEqual(appends.at(-1), ['r1', 'interrupted', ENDED, 'm2']);
    const { body: shown } = await ask(`${SESSION}?view=transcript`);
    const { events } = shown as { events: Event[] };
    assert.deepEqual(events.map(nameOf), ['m1', 'interrupted', ENDED, 'm2']);
    const message = (rewound as { message: Event }).message;
    assert.equal(message.timestamp, events.at(-1)!.timestamp * 1000);
    assert.equal(isAborted(signals, 'm1'), true);
  });

  it('ends a run that ignores its signal within about a second, and what that appends later is refused', async () => {
    const tookMs = await mockedTimeOf(async () => {
      const late = gate();
      const appended: unknown[] = [];
      const { ask, names } = await serveStreaming({
        run: async function* ({ service, message, appName, userId, sessionId }) {
          yield { author: 'guide', partial: true, content: says('Gr') };
          if (message.id !== 'm1') return;
          const session = (await service.getSession({ appName, userId, sessionId }))!;
          await late.opened;
          const { invocationId } = message;
          const event = { invocationId, author: 'guide', content: says('late') };
          await service.appendEvent({ session, event }).catch((error) => appended.push(error));
        },
      });
      await ask(EVENTS, asked('m1'));
      await sleep(5);
      assert.equal((await ask(REWIND, { body: { ...again, run: {} } })).status, 200);
      late.open();
      await sleep(5);
      assert.deepEqual(
        appended.map((error) => (error as { staleReason?: string }).staleReason),
        ['undone'],
      );
      // The agent says nothing whole to the second message, so its run stores its end.
      assert.deepEqual(await names(), ['m1', 'interrupted', ENDED, 'r1', 'm2', 'RUN_STOPPED']);
    });
    assert.ok(tookMs >= 1000 && tookMs < 2000, `${tookMs} ms`);
  });

  it('ends a run whose message is not stored yet', async () => {
    const { ask, service, names, seen, go } = await serveStreaming();
    const session = (await service.getSession(KEY))!;
    await service.appendEvents({ session, events: [messageJson('m1')] });
    const storing = gate();
    const { appendEvent } = service;
    service.appendEvent = async (request) => {
      if (request.event.id === 'm9') await storing.opened;
      return Reflect.apply(appendEvent, service, [request]);
    };
    const waiting = ask(EVENTS, asked('m9'));
    await sleep(5);
    const rewinding = ask(REWIND, { body: { ...again, run: {} } });
    await sleep(5);
    storing.open();
    assert.equal((await rewinding).status, 200);
    await waiting;
    go.open();
    await sleep(5);
    const stored = await names();
    assert.equal(stored.filter((name) => name === 'm2!').length, 1);
    assert.equal(stored.includes('m9!'), false);
    assert.ok(seen.includes('m2'));
  });
});

describe('The same rewind again', () => {
  for (const delayMs of [0, 1, 20, 300]) {
    for (const isDuringRun of [true, false]) {
      const when = `${delayMs} ms later, ${isDuringRun ? 'during a run' : 'without one'},`;
      it(`${when} has the same answer, and the run of its message continues`, async () => {
        const { ask, service, names, signals, seen, go } = await serveStreaming();
        if (isDuringRun) await ask(EVENTS, asked('m1'));
        else await ask(EVENTS, { body: { events: [messageJson('m1')] } });
        const { getEvents, appendEvents } = service;
        service.getEvents = async function (request) {
          await sleep(5);
          return Reflect.apply(getEvents, service, [request]);
        };
        service.appendEvents = async function (request) {
          await sleep(30);
          return Reflect.apply(appendEvents, service, [request]);
        };
        const body = { ...again, run: {} };
        const first = ask(REWIND, { body });
        if (delayMs > 0) await sleep(delayMs);
        const second = await ask(REWIND, { body });
        assert.deepEqual([second.status, (await first).status], [200, 200]);
        assert.deepEqual(second.body, { ...((await first).body as object), isNew: false });
        assert.equal((await ask(REWIND, { body: again })).status, 200, 'also without run');
        assert.equal(isAborted(signals, 'm2'), false);
        go.open();
        await sleep(5);
        const ending = isDuringRun ? ['interrupted', ENDED] : [];
        assert.deepEqual(await names(), ['m1', ...ending, 'r1', 'm2', 'm2!']);
        assert.deepEqual(seen, isDuringRun ? ['m1', 'm2'] : ['m2']);
      });
    }
  }

  it('without run, at the same moment, is stored once', async () => {
    const { ask, names } = await serveStreaming();
    await ask(EVENTS, asked('m1'));
    const [first, second] = await Promise.all([1, 2].map(() => ask(REWIND, { body: again })));
    assert.deepEqual([first!.status, second!.status], [200, 200]);
    const [one, other] = [first!, second!].map(({ body }) => ({
      ...(body as object),
      isNew: true,
    }));
    assert.deepEqual(one, other);
    assert.deepEqual(await names(), ['m1', 'interrupted', ENDED, 'r1', 'm2']);
  });

  it('is answered also when no other run may begin', async () => {
    const { ask } = await serveStreaming({ maxRuns: 1 });
    await ask(EVENTS, asked('m1'));
    const body = { ...again, run: {} };
    assert.equal((await ask(REWIND, { body })).status, 200, 'it takes the place of the run');
    assert.equal((await ask(REWIND, { body })).status, 200);
  });

  it('of another client cancels the run of the first one, and each message has one run', async () => {
    const { ask, names, seen, go } = await serveStreaming();
    await ask(EVENTS, asked('m1'));
    const other = {
      place: { turn: 'm1' },
      marker: { id: 'r3', invocationId: 'i-r3' },
      message: { id: 'm3', invocationId: 'i-m3' },
    };
    const answers = await Promise.all(
      [again, other].map((body) => ask(REWIND, { body: { ...body, run: {} } })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    go.open();
    await sleep(5);
    const { body } = await ask(`${SESSION}?view=transcript`);
    assert.deepEqual((body as { events: Event[] }).events.map(nameOf), ['m3', 'm3!']);
    assert.deepEqual(seen, ['m1', 'm2', 'm3']);
    assert.equal((await names()).filter((name) => name === ENDED).length, 2);
  });
});

describe('A message with run', () => {
  it('whose id is that of another event is refused with status 400', async () => {
    const { ask, service, names, seen, go } = await serveStreaming();
    const send = (event: object) => ask(EVENTS, { body: { events: [event], run: {} } });
    assert.equal((await send(messageJson('m1'))).status, 200);
    assert.equal((await send(messageJson('m1', 'i-other'))).status, 400, 'while it runs');
    go.open();
    await sleep(5);
    assert.equal((await ask(REWIND, { body: { ...again } })).status, 200);
    const { events } = (await service.getSession(KEY))!;
    const ofAgent = events.find(({ author }) => author === 'guide')!;
    const before = await names();
    for (const event of [
      messageJson('m1', 'i-other'),
      messageJson(ofAgent.id, ofAgent.invocationId),
      messageJson(marker.id, marker.invocationId),
    ]) {
      const { status, body } = await send(event);
      assert.equal(status, 400, event.id);
      const { code, key } = body as { code: string; key: string };
      assert.deepEqual([code, key], ['invalid_argument', 'events[0].id']);
    }
    assert.equal((await send(messageJson('m1'))).status, 200, 'the same write');
    assert.deepEqual([await names(), seen], [before, ['m1']]);
  });
});

describe('A rewind that a handler passes on to another one', () => {
  it('ends the run after it is stored, and stores no end event; a refused one leaves the run running', async () => {
    const inner = serve({ authorize: () => ALL_RIGHTS });
    await inner.service.createSession(KEY);
    const remote = new RemoteSessionService({
      url: 'http://localhost',
      fetch: (input, init) => inner.handler(new Request(input, init)),
    });
    const signals: AbortSignal[] = [];
    const handler = sessionHandler(remote, {
      authorize: () => true,
      run: async function* ({ signal }) {
        signals.push(signal);
        yield { author: 'guide', partial: true, content: says('Gr') };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const ask: Ask = async (path, request) => answerOf(await handler(requestTo(path, request)));
    const rewind = (invocationId: string, of = marker) =>
      ask(REWIND, { body: { place: { before: { invocationId } }, marker: of } });
    const aborted = () => signals.map((signal) => signal.aborted);
    assert.equal((await ask(EVENTS, asked('m1'))).status, 200);
    assert.equal((await rewind('none')).status, 404);
    assert.deepEqual(aborted(), [false]);
    assert.equal((await rewind('i-m1')).status, 200);
    assert.deepEqual(aborted(), [true]);
    assert.equal((await ask(EVENTS, asked('m2'))).status, 200);
    assert.equal((await rewind('i-m1')).status, 200, 'again');
    assert.deepEqual(aborted(), [true, false]);
    const { events } = (await inner.service.getSession(KEY))!;
    assert.deepEqual(events.map(nameOf), ['m1', 'r1', 'm2']);
    await handler.close({ graceMs: 0 });
    await remote.close();
  });
});
