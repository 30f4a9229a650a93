import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type BaseSessionService,
  type Event,
  FunctionNode,
  LlmAgent,
  LongRunningFunctionTool,
  RequestInput,
  Runner,
  Workflow,
} from '@google/adk';

import { InMemorySessionService } from '../../../../js/service/adk/index.js';
import { toolCall, type Reply } from './model_script.js';
import { ScriptedModel } from './pairing/scripted_model.js';
import { key } from './scenarios/scenario.js';

const numRecentEvents = 4;
const TURNS = 40;

/** Gives out the last events and nothing more, as a cap without any care would. */
class Careless extends InMemorySessionService {
  readonly #config: { numRecentEvents: number; view: 'raw' };

  constructor(numRecentEvents: number) {
    super();
    this.#config = { numRecentEvents, view: 'raw' };
  }

  override getSession(request: Parameters<InMemorySessionService['getSession']>[0]) {
    return super.getSession({ ...request, config: this.#config });
  }
}

/** One message to the runner; throws what went wrong in the turn. */
async function send(runner: Runner, part: object): Promise<Event[]> {
  const events: Event[] = [];
  const newMessage = { role: 'user', parts: [part] };
  for await (const event of runner.runAsync({ ...key, newMessage })) {
    if (event.errorMessage !== undefined) throw new Error(event.errorMessage);
    events.push(event);
  }
  return events;
}

/** A conversation that opens a ticket, continues with other topics, and then gets the tool's response. */
async function answerLate(service: BaseSessionService, immediate: unknown) {
  await service.createSession(key);
  const tool = new LongRunningFunctionTool({
    name: 'open_ticket',
    description: 'opens a ticket',
    execute: () => immediate,
  });
  const chat: Reply[] = Array.from({ length: TURNS }, (_, number) => `reply ${number}`);
  const opened = immediate === undefined ? [] : ['It is open.'];
  const model = new ScriptedModel([toolCall('open_ticket'), ...opened, ...chat, 'It is solved.']);
  const agent = new LlmAgent({ name: 'desk', model, tools: [tool] });
  const runner = new Runner({ appName: key.appName, agent, sessionService: service });
  const [called] = await send(runner, { text: 'Open a ticket!' });
  for (let number = 0; number < TURNS; number += 1) await send(runner, { text: `chat ${number}` });
  const id = called?.content?.parts?.[0]?.functionCall?.id;
  assert.ok(id, 'the tool was not called');
  const response = { status: 'solved' };
  const last = await send(runner, { functionResponse: { id, name: 'open_ticket', response } });
  return { last, model };
}

describe('A Runner on a service with `numRecentEvents`', () => {
  for (const [title, immediate] of [
    ['without an answer so far', undefined],
    ['which has said that it is at it', { status: 'pending' }],
  ] as const) {
    it(`gets the late response of a long-running tool ${title}`, async () => {
      const service = new InMemorySessionService({ numRecentEvents });
      const { last, model } = await answerLate(service, immediate);
      assert.equal(last.at(-1)?.content?.parts?.[0]?.text, 'It is solved.');
      const parts = model.requests.at(-1)?.contents.flatMap(({ parts }) => parts ?? []) ?? [];
      assert.ok(parts.some(({ functionCall }) => functionCall?.name === 'open_ticket'));
      const response = parts.find(({ functionResponse }) => functionResponse)?.functionResponse;
      assert.deepEqual(response?.response, { status: 'solved' });
    });

    it(`would fail without the extended window ${title}`, async () => {
      const failing = answerLate(new Careless(numRecentEvents), immediate);
      await assert.rejects(failing, /No function call event found/);
    });
  }

  it('sends its model as much at turn 40 as at turn 4, and stores all events', async () => {
    const service = new InMemorySessionService({ numRecentEvents });
    await service.createSession(key);
    const model = new ScriptedModel(
      Array.from({ length: TURNS }, (_, number) => `reply ${number}`),
    );
    const agent = new LlmAgent({ name: 'desk', model });
    const runner = new Runner({ appName: key.appName, agent, sessionService: service });
    for (let number = 0; number < TURNS; number += 1)
      await send(runner, { text: `chat ${number}` });
    const lengths = model.requests.map(({ contents }) => contents.length);
    assert.deepEqual([lengths[3], lengths.at(-1)], [5, 5]);
    assert.equal(model.requests.at(-1)?.contents[0]?.role, 'user');
    const config = { numRecentEvents: 1000 };
    assert.equal((await service.getSession({ ...key, config }))?.events.length, 2 * TURNS);
    assert.equal((await service.getSession(key))?.events.length, 4);
  });

  for (const [title, messages] of [
    ['in plain words', ['go', 'first', 'second', 'third']],
    ['by its call', ['go', '#one', '#two', '#three']],
  ] as const) {
    it(`continues a workflow that waited for an answer, given ${title}`, async () => {
      const whole = await askThrice(new InMemorySessionService(), messages);
      assert.match(whole[1] ?? '', /two/);
      for (const numRecentEvents of [0, 1]) {
        const service = new InMemorySessionService({ numRecentEvents });
        assert.deepEqual(await askThrice(service, messages), whole);
      }
    });
  }

  it('would restart the workflow without the extended window', async () => {
    const ran = await askThrice(new Careless(1), ['go', 'first']);
    assert.deepEqual(ran, ['one("go")', 'one("first")']);
  });
});

/**
 * Sends messages to a workflow of three steps that each ask the user. A message of `#` and a step's name answers that
 * step. Returns the steps that ran, with their inputs.
 */
async function askThrice(service: BaseSessionService, messages: readonly string[]) {
  await service.createSession(key);
  const ran: string[] = [];
  const [one, two, three] = ['one', 'two', 'three'].map((name) => {
    return new FunctionNode(name, (_, input) => {
      ran.push(`${name}(${JSON.stringify(input)})`);
      return new RequestInput({ interruptId: name, message: name });
    });
  });
  const flow = new Workflow({ name: 'flow', edges: [['START', one!, two!, three!]] });
  const runner = new Runner({ appName: key.appName, agent: flow, sessionService: service });
  for (const message of messages) {
    const id = message.slice(1);
    const functionResponse = { id, name: 'adk_request_input', response: { result: message } };
    await send(runner, message.startsWith('#') ? { functionResponse } : { text: message });
  }
  return ran;
}
