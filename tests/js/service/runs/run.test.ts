import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { mockedTimeOf } from '../../mocked_time.js';
import {
  createEvent,
  type Event,
  InMemorySessionService,
  Invocation,
  isSessionError,
} from '../../../../js/index.js';
import { runAgent } from '../../../../js/service/runs/agent/local_run.js';
import type { AgentRun } from '../../../../js/service/runs/agent/run_storage.js';
import {
  RUN_STORE,
  type RunAgent,
  type RunContext,
} from '../../../../js/service/runs/agent/run_context.js';
import { storesMessage } from '../../ui/live/runs/agents.js';
import { failsWith } from '../../fails_with.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const says = (text: string) => ({ role: 'model', parts: [{ text }] });

async function start(agent: RunAgent, more: Partial<AgentRun> = {}) {
  const service = new InMemorySessionService();
  await service.createSession(key);
  const message = createEvent({ author: 'user', invocationId: 'i1', content: says('hi') });
  const controller = new AbortController();
  const partials: Event[] = [];
  const wholes: Event[] = [];
  let storedAt: string | undefined;
  const run: AgentRun = {
    key,
    service,
    agent,
    streaming: true,
    admit: async () => ({ message, isStored: false }),
    signal: controller.signal,
    onStored: ({ id }) => (storedAt = id),
    onPartial: (partial) => partials.push(partial),
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
    partials,
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
    const { ended, stored, partials, message, storedAt } = await start(async function* () {
      yield { author: 'guide', partial: true, content: says('Gr') };
      yield { author: 'guide', content: says('Green') };
    });
    await ended;
    const events = await stored();
    assert.deepEqual(textsOf(events), ['hi', 'Green']);
    assert.deepEqual(textsOf(partials), ['Gr']);
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

  it('refuses an iterator without return, by which nobody could end the agent', async () => {
    const iterator = { next: () => Promise.resolve({ done: true, value: undefined }) };
    const agent = () => ({ [Symbol.asyncIterator]: () => iterator });
    const { ended, stored } = await start(agent as unknown as RunAgent);
    await assert.rejects(
      ended,
      (error: unknown) =>
        isSessionError(error, 'run_failed') && isSessionError(error.cause, 'invalid_argument'),
    );
    assert.deepEqual(textsOf(await stored()), ['hi']);
  });

  for (const partial of [false, true]) {
    const what = partial ? 'a partial event' : 'an event';
    it(`refuses ${what} with the id of its message, which stays as it was`, async () => {
      const { ended, stored, partials } = await start(async function* ({ message }) {
        yield { id: message.id, author: 'guide', partial, content: says('Mine') };
      });
      await assert.rejects(ended, failsWith('invalid_argument'));
      assert.deepEqual([textsOf(await stored()), partials], [['hi'], []]);
    });

    it(`fails if JSON cannot represent ${what}`, async () => {
      const { ended, stored, partials, wholes } = await start(async function* () {
        yield { author: 'guide', partial, content: says('Gr'), customMetadata: { size: 1n } };
      });
      await assert.rejects(ended, failsWith('unserializable'));
      assert.deepEqual([textsOf(await stored()), partials, wholes], [['hi'], [], []]);
    });
  }

  it('refuses an event with the id of a stored event of another invocation, also if it has read the session', async () => {
    for (const reads of [false, true]) {
      const agent: RunAgent = async function* ({ session }) {
        if (reads) await session();
        yield { id: 'a0', author: 'guide', content: says('Mine') };
      };
      const first = await start(async function* () {
        // The run that is tested begins below.
      });
      await first.ended;
      const { run, service, stored } = first;
      const session = (await service.getSession(key))!;
      const event = { id: 'a0', invocationId: 'i0', author: 'guide', content: says('Theirs') };
      await service.appendEvent({ session, event });
      const message = createEvent({ author: 'user', invocationId: 'i2', content: says('again') });
      const running = runAgent({
        ...run,
        agent,
        admit: async () => ({ message, isStored: false }),
      });
      await assert.rejects(running, failsWith('invalid_argument'));
      assert.deepEqual(textsOf(await stored()), ['hi', 'Theirs', 'again']);
    }
  });

  it('gives its agent the session once the message is stored, and then what it stores', async () => {
    const seen: unknown[] = [];
    const agent = storesMessage(async function* (context: RunContext) {
      const { service, message, session: open } = context;
      await assert.rejects(open(), failsWith('not_found'));
      const session = (await service.getSession(context))!;
      await context[RUN_STORE]!.storeMessage({ service, session, message });
      const opened = await open();
      seen.push(opened === session, textsOf(opened.events));
      yield { author: 'guide', content: says('Green') };
      seen.push(textsOf(opened.events));
    });
    const { ended } = await start(agent);
    await ended;
    assert.deepEqual(seen, [true, ['hi'], ['hi', 'Green']]);
  });

  it('gives an agent that stores no message itself the session with the message and what it yields', async () => {
    const seen: unknown[] = [];
    const { ended } = await start(async function* ({ session: open }) {
      const opened = await open();
      seen.push(textsOf(opened.events), (await open()) === opened);
      yield { author: 'guide', content: says('Green') };
      seen.push(textsOf(opened.events));
    });
    await ended;
    assert.deepEqual(seen, [['hi'], true, ['hi', 'Green']]);
  });

  it('admits its message again if the session has changed, and begins its agent once', async () => {
    let begun = 0;
    const admitted: string[] = [];
    const service = new InMemorySessionService();
    const session = await service.createSession(key);
    const message = createEvent({ author: 'user', invocationId: 'i1', content: says('hi') });
    const admit = async () => {
      const expectedRevision = service.revisionOf((await service.getSession(key))!);
      if (admitted.length < 2) {
        const event = { invocationId: 'i0', author: 'guide', content: says('Meanwhile') };
        await service.appendEvent({ session, event });
      }
      return { message, isStored: false, expectedRevision };
    };
    const { run } = await start(async function* () {
      // The run that is tested begins below.
    });
    await runAgent({
      ...run,
      service,
      admit,
      onAdmitted: ({ id }) => admitted.push(id),
      agent: async function* () {
        begun += 1;
        yield { author: 'guide', content: says('Green') };
      },
    });
    const events = (await service.getSession(key))!.events;
    assert.deepEqual(textsOf(events), ['Meanwhile', 'Meanwhile', 'hi', 'Green']);
    assert.deepEqual([begun, admitted], [1, [message.id, message.id, message.id]]);
  });

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
    const tookMs = await mockedTimeOf(async () => {
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
      await ended;
      goOn();
      await assert.rejects(late, failsWith('aborted'));
      assert.deepEqual(textsOf(await stored()), ['hi', 'Let me look.']);
    });
    assert.ok(tookMs >= 1000 && tookMs < 2000, `${tookMs} ms`);
  });
});
