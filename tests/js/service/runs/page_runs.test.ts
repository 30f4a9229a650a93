// Two tabs of a page over one session: one runs an agent, the other one follows and cancels it.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';

import { createEvent, InMemorySessionService } from '../../../../js/index.js';
import type { RunAgent } from '../../../../js/service/runs/agent/run_context.js';
import { PageRuns } from '../../../../js/service/runs/page_runs.js';
import type { Happening } from '../../../../js/service/runs/run_table.js';
import type { QueuedMessage } from '../../../../js/service/runs/session_runs.js';
import { passTimeUntil } from '../../mocked_time.js';
import { FakeLocks } from './fake_locks.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const text = (text: string) => ({ role: 'user', parts: [{ text }] });

const navigators = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
let locks: FakeLocks;
let channels = 0;

/** Resolves when a function is called. */
function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

async function openTabs() {
  const service = new InMemorySessionService();
  await service.createSession(KEY);
  channels += 1;
  const name = `runs of pages ${channels}`;
  const tab = () => {
    const told: string[] = [];
    const note = (happening: Happening): void => {
      if (happening.type !== 'told') return;
      const { status = 'free', messageId = '' } = happening.report ?? {};
      told.push(`${status} ${messageId}`.trim());
    };
    return { told, runs: new PageRuns(service, KEY, note, name) };
  };
  const [running, other] = [tab(), tab()];
  const stop = other.runs.follow();
  return { service, running, other, stop, name };
}

/** Asks an agent that answers `late` unless it is stopped. */
function asked(agent: RunAgent, id = 'm1'): QueuedMessage & { readonly stored: Promise<unknown> } {
  const message = createEvent({
    id,
    author: 'user',
    invocationId: `run of ${id}`,
    content: text('hi'),
  });
  let resolve: QueuedMessage['resolve'] = () => undefined;
  let reject: QueuedMessage['reject'] = () => undefined;
  const stored = new Promise<unknown>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  stored.catch(() => undefined);
  const admit = () => Promise.resolve({ message, isStored: false });
  const callIds: string[] = [];
  return {
    id,
    callIds,
    agent,
    streaming: true,
    isOfRewind: false,
    admit,
    resolve,
    reject,
    stored,
  };
}

const answers: RunAgent = async function* () {
  await Promise.resolve();
  yield { author: 'guide', content: { role: 'model', parts: [{ text: 'late' }] } };
};

const waits: RunAgent = async function* ({ signal }) {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  yield { author: 'guide', content: { role: 'model', parts: [{ text: 'never' }] } };
};

/** Lets the append of the message wait for `go`. */
function holdAppend(service: InMemorySessionService) {
  const [begun, go] = [gate(), gate()];
  const append = service.appendEvent.bind(service) as (request: unknown) => Promise<unknown>;
  const held = async (request: unknown): Promise<unknown> => {
    begun.open();
    await go.opened;
    return append(request);
  };
  Object.assign(service, { appendEvent: held });
  return { begun: begun.opened, go: go.open };
}

async function storedOf(service: InMemorySessionService) {
  const { events = [] } = (await service.getSession(KEY)) ?? {};
  return events.map(({ id, errorCode }) => (id === 'm1' ? id : errorCode));
}

describe('The runs of a page in two tabs', () => {
  beforeEach(() => {
    locks = new FakeLocks();
    Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => {
    mock.timers.reset();
    if (navigators === undefined) Reflect.deleteProperty(globalThis, 'navigator');
    else Object.defineProperty(globalThis, 'navigator', navigators);
  });

  it('are told before the message is stored', async () => {
    const { service, running, other, stop } = await openTabs();
    const { begun, go } = holdAppend(service);
    const sent = running.runs.send(() => asked(answers));
    await begun;
    const isTold = async (): Promise<void> => {
      while (!other.told.includes('running m1')) await new Promise(setImmediate);
    };
    await passTimeUntil(isTold());
    assert.deepEqual(await storedOf(service), []);
    go();
    await passTimeUntil(sent);
    stop();
  });

  it('are told as over if the message is refused', async () => {
    const { service, running, other, stop } = await openTabs();
    Object.assign(service, { appendEvent: () => Promise.reject(new Error('no room')) });
    await passTimeUntil(running.runs.send(() => asked(answers)));
    const isOver = async (): Promise<void> => {
      while (!other.told.includes('ended m1')) await new Promise(setImmediate);
    };
    await passTimeUntil(isOver());
    stop();
  });

  it('are over for a tab that did not listen when they ended', async () => {
    const { service, running, other, stop } = await openTabs();
    const { begun, go } = holdAppend(service);
    const sent = running.runs.send(() => asked(answers));
    await begun;
    const isTold = async (text: string): Promise<void> => {
      while (!other.told.includes(text)) await new Promise(setImmediate);
    };
    await passTimeUntil(isTold('running m1'));
    stop();
    go();
    await passTimeUntil(sent);
    assert.deepEqual(other.told, ['running m1']);
    const stopAgain = other.runs.follow();
    await passTimeUntil(isTold('free'));
    stopAgain();
  });

  it('end by a cancel that comes before the run is told', async () => {
    const { service, running, other, stop } = await openTabs();
    const { begun, go } = holdAppend(service);
    // The other tab is not told of the run.
    stop();
    const sent = running.runs.send(() => asked(waits));
    await begun;
    const stopped = other.runs.stop('m1');
    go();
    await passTimeUntil(Promise.all([sent, stopped]));
    assert.deepEqual(other.told, ['free']);
    assert.deepEqual(await storedOf(service), ['m1', 'INVOCATION_ABORTED']);
  });

  it('go on if this tab has begun the next one before the time to stop the other one is over', async () => {
    const { service, running, other, stop } = await openTabs();
    const first = running.runs.send(() => asked(waits));
    const isTold = async (): Promise<void> => {
      while (!other.told.includes('running m1')) await new Promise(setImmediate);
    };
    await passTimeUntil(isTold());
    const go = gate();
    const next = other.runs.send(() =>
      asked(async function* (context) {
        await go.opened;
        yield* answers(context);
      }, 'm2'),
    );
    await passTimeUntil(Promise.all([first, other.runs.stop('m1')]));
    go.open();
    await passTimeUntil(next);
    const { events = [] } = (await service.getSession(KEY)) ?? {};
    assert.deepEqual(
      events.map(({ id, content, errorCode }) => errorCode ?? content?.parts?.[0]?.text ?? id),
      ['hi', 'INVOCATION_ABORTED', 'hi', 'late'],
    );
    stop();
  });

  it('keep their lock if nobody has told that it is for this message', async () => {
    const { service, other, stop, name } = await openTabs();
    const session = (await service.getSession(KEY))!;
    await service.appendEvent({
      session,
      event: { id: 'm1', invocationId: 'i1', author: 'user', content: text('hi') },
    });
    const [taken, end] = [gate(), gate()];
    const lock = `${name}:run:${JSON.stringify([KEY.appName, KEY.userId, KEY.sessionId])}`;
    const held = locks.request(lock, async () => {
      taken.open();
      await end.opened;
    });
    await taken.opened;
    await passTimeUntil(other.runs.stop('m1'));
    assert.deepEqual(await storedOf(service), ['m1']);
    end.open();
    await held;
    stop();
  });
});
