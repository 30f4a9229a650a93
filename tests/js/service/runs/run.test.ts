import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  createEvent,
  type Event,
  InMemorySessionService,
  Invocation,
  isSessionError,
} from '../../../../js/index.js';
import { runAgent } from '../../../../js/service/runs/agent/run_agent.js';
import type { AgentRun } from '../../../../js/service/runs/agent/run_storage.js';
import type { RunAgent } from '../../../../js/service/runs/agent/run_context.js';
import { failsWith } from '../../fails_with.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const says = (text: string) => ({ role: 'model', parts: [{ text }] });

async function start(agent: RunAgent, more: Partial<AgentRun> = {}) {
  const service = new InMemorySessionService();
  await service.createSession(key);
  const message = createEvent({ author: 'user', invocationId: 'i1', content: says('hi') });
  const controller = new AbortController();
  const pieces: Event[] = [];
  const wholes: Event[] = [];
  let storedAt: string | undefined;
  const run: AgentRun = {
    ...{ key, service, agent, streaming: true },
    admit: async () => ({ message, isStored: false }),
    signal: controller.signal,
    onStored: ({ id }) => (storedAt = id),
    onPiece: (piece) => pieces.push(piece),
    onWhole: (whole) => wholes.push(whole),
    ...more,
  };
  const ended = runAgent(run);
  ended.catch(() => undefined);
  const stored = async () => (await service.getSession(key))?.events ?? [];
  return {
    service,
    run,
    message,
    ended,
    controller,
    pieces,
    wholes,
    stored,
    storedAt: () => storedAt,
  };
}

const failsBy = (thrown: unknown) => (error: unknown) =>
  isSessionError(error, 'run_failed') && error.cause === thrown;

const textsOf = (events: readonly Event[]) =>
  events.map(({ content }) => content?.parts?.map(({ text }) => text).join(''));

describe('A run', () => {
  it('stores its message before the first event, and the whole events that are yielded', async () => {
    const { ended, stored, pieces, message, storedAt } = await start(async function* () {
      yield { author: 'guide', partial: true, content: says('Gr') };
      yield { author: 'guide', content: says('Green') };
    });
    await ended;
    const events = await stored();
    assert.deepEqual(textsOf(events), ['hi', 'Green']);
    assert.deepEqual(textsOf(pieces), ['Gr']);
    assert.equal(storedAt(), message.id);
    assert.deepEqual(
      events.map(({ invocationId }) => invocationId),
      ['i1', 'i1'],
    );
  });

  it('stores its message if the agent yields nothing', async () => {
    const { ended, stored } = await start(async function* () {
      // Nothing to say.
    });
    await ended;
    assert.deepEqual(textsOf(await stored()), ['hi']);
  });

  it('stores an event once that the agent has stored itself', async () => {
    const { ended, stored, wholes } = await start(async function* ({ service, session: open }) {
      const session = await open();
      const invocation = new Invocation({ service, session, invocationId: 'i1' });
      const context = invocation.context({ agentName: 'guide' });
      yield await invocation.append({ content: says('Green') }, { context });
      invocation.end();
      const other = (await service.getSession(key))!;
      const event = { invocationId: 'i1', author: 'guide', content: says('Black') };
      yield await service.appendEvent({ session: other, event });
    });
    await ended;
    assert.deepEqual(textsOf(await stored()), ['hi', 'Green', 'Black']);
    assert.deepEqual(textsOf(wholes), ['Green', 'Black']);
  });

  it('keeps the message if the agent throws before its first event', async () => {
    const thrown = new Error('no model');
    const { ended, stored } = await start(() => {
      throw thrown;
    });
    await assert.rejects(ended, failsBy(thrown));
    assert.deepEqual(textsOf(await stored()), ['hi']);
  });

  it('keeps the message if the agent throws after its first event', async () => {
    const thrown = new Error('no model');
    const { ended, stored } = await start(async function* () {
      yield { author: 'guide', content: says('Let me look.') };
      throw thrown;
    });
    await assert.rejects(ended, failsBy(thrown));
    assert.deepEqual(textsOf(await stored()), ['hi', 'Let me look.']);
  });

  for (const [what, agent, code] of [
    ['a function that returns no events', (() => 7) as unknown as RunAgent, 'run_failed'],
    [
      'a yielded value that is not an event',
      async function* () {
        yield null;
      } as unknown as RunAgent,
      'invalid_argument',
    ],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { ended, stored } = await start(agent);
      await assert.rejects(ended, failsWith(code));
      assert.deepEqual(textsOf(await stored()), ['hi']);
    });
  }

  it('calls no model if its message is stored already', async () => {
    let calls = 0;
    const agent: RunAgent = async function* () {
      calls += 1;
      yield { author: 'guide', content: says('Green') };
    };
    const { ended, run } = await start(agent);
    await ended;
    await assert.rejects(runAgent(run), failsWith('already_exists'));
    assert.equal(calls, 1);
  });

  it('ends a second after its signal, also if the agent ignores it and never ends', async () => {
    let goOn = (): void => undefined;
    const isOver = new Promise<void>((resolve) => (goOn = resolve));
    let lateCall = (call: Promise<unknown>): unknown => call;
    const late = new Promise<unknown>((resolve) => (lateCall = resolve));
    const { ended, controller, stored } = await start(async function* ({ session }) {
      yield { author: 'guide', content: says('Let me look.') };
      controller.abort();
      await isOver;
      lateCall(session());
      yield { author: 'guide', content: says('Late') };
    });
    const begin = performance.now();
    await ended;
    const tookMs = performance.now() - begin;
    assert.ok(tookMs < 1500, `${tookMs} ms`);
    goOn();
    await assert.rejects(late, failsWith('aborted'));
    assert.deepEqual(textsOf(await stored()), ['hi', 'Let me look.']);
  });
});
