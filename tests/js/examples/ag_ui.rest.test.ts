// The example ag_ui.ts with AG-UI's own client.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FunctionTool, LlmAgent, Runner } from '@google/adk';
import { z } from 'zod';

import { httpServer } from '../../http_server.js';
import { agUi } from '../../../examples/ag_ui.js';
import { InMemorySessionService } from '../../../js/index.js';
import { nodeListener } from '../../../js/server/index.js';
import { asAdkService } from '../../../js/service/adk/index.js';
import { root } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { toolCall } from '../service/adk/model_script.js';
import { ScriptedModel } from '../service/adk/pairing/scripted_model.js';

interface AgUiEvent {
  readonly type: string;
  readonly outcome?: { readonly type: string; readonly interrupts?: { readonly id: string }[] };
  readonly message?: string;
}

interface Message {
  readonly id: string;
  readonly role: string;
  readonly content?: string;
}

/** The part of their client that is used here. */
interface HttpAgent {
  readonly messages: Message[];
  readonly state: Record<string, unknown>;
  addMessage(message: Message): void;
  setMessages(messages: Message[]): void;
  abortRun(): void;
  runAgent(
    input: { resume?: { interruptId: string; status: string; payload: object }[] },
    subscriber: { onEvent: (given: { event: AgUiEvent }) => void },
  ): Promise<{ newMessages: Message[] }>;
}

/** Their client 1.0.0, from the packages of tests/packages/ag_ui. */
const { HttpAgent } = createRequire(join(installPackages('ag_ui'), 'package.json'))(
  '@ag-ui/client',
) as { HttpAgent: new (options: { url: string; threadId: string }) => HttpAgent };

const partial = (text: string) => ({
  content: { role: 'model', parts: [{ text }] },
  partial: true,
});

const STREAMED = [partial('Gre'), partial('en'), { content: { role: 'model', parts: [{ text: 'Green' }] } }]; // prettier-ignore

describe('The example of AG-UI', () => {
  let server: Server;
  let url: string;
  let paid = 0;
  const service = new InMemorySessionService();
  const model = new ScriptedModel([STREAMED, toolCall('pay', { price: 3 }), 'Paid.', 'Bye']);

  before(async () => {
    const pay = new FunctionTool({
      name: 'pay',
      description: 'pays',
      parameters: z.object({ price: z.number() }),
      requireConfirmation: true,
      execute: () => ({ paid: (paid += 1) }),
    });
    const agent = new LlmAgent({ name: 'guide', model, tools: [pay], outputKey: 'last' });
    const runner = new Runner({ appName: 'shop', agent, sessionService: asAdkService(service) });
    const userOf = (request: Request) => request.headers.get('x-user') ?? 'ada';
    const listener = nodeListener(agUi(service, runner, userOf));
    server = httpServer((request, response) => void listener(request, response)).listen(0);
    await new Promise((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  after(() => server.close());

  /** Runs the agent, and returns the events. */
  async function run(
    agent: HttpAgent,
    input: Parameters<HttpAgent['runAgent']>[0] = {},
  ): Promise<AgUiEvent[]> {
    const events: AgUiEvent[] = [];
    await agent.runAgent(input, { onEvent: ({ event }) => events.push(event) });
    return events;
  }

  it('has at most 100 lines', () => {
    const text = readFileSync(join(root, 'examples/ag_ui.ts'), 'utf8');
    assert.ok(text.trimEnd().split('\n').length <= 100);
  });

  it('streams, asks for a confirmation, and runs no message twice', async () => {
    const agent = new HttpAgent({ url, threadId: 't1' });
    agent.addMessage({ id: 'm1', role: 'user', content: 'Which tea?' });
    const first = await run(agent);
    assert.deepEqual(
      first.map(({ type }) => type),
      [
        'RUN_STARTED',
        'TEXT_MESSAGE_START',
        'TEXT_MESSAGE_CONTENT',
        'TEXT_MESSAGE_CONTENT',
        'TEXT_MESSAGE_END',
        'STATE_DELTA',
        'RUN_FINISHED',
      ],
    );
    assert.equal(agent.messages.at(-1)?.content, 'Green');
    assert.equal(agent.state.last, 'Green');

    agent.addMessage({ id: 'm2', role: 'user', content: 'pay' });
    const { outcome } = (await run(agent)).at(-1)!;
    assert.equal(outcome?.type, 'interrupt');
    assert.equal(paid, 0);
    const resume = outcome.interrupts!.map(({ id: interruptId }) => ({
      interruptId,
      status: 'resolved',
      payload: { confirmed: true },
    }));
    const resumed = await run(agent, { resume });
    assert.deepEqual(resumed.at(-1)?.outcome, { type: 'success' });
    assert.ok(resumed.some(({ type }) => type === 'TOOL_CALL_RESULT'));
    assert.equal(paid, 1);
    assert.equal(agent.messages.at(-1)?.content, 'Paid.');

    const key = { appName: 'shop', userId: 'ada', sessionId: 't1' };
    const before = (await service.getSession(key))!.events.length;
    agent.setMessages([{ id: 'm1', role: 'user', content: 'Which tea?' }]);
    const again = await run(agent);
    assert.deepEqual(again.at(-1)?.outcome, { type: 'success' });
    assert.equal(agent.messages.at(-1)?.content, 'Green');
    assert.equal((await service.getSession(key))!.events.length, before);
    assert.equal(model.requests.length, 3);

    agent.addMessage({ id: 'a9', role: 'assistant', content: 'Which tea?' });
    const stored = await run(agent);
    assert.deepEqual(stored.at(-1)?.outcome, { type: 'success' });
    assert.ok(stored.some(({ type }) => type === 'TEXT_MESSAGE_CONTENT'));
    assert.equal((await service.getSession(key))!.events.length, before);
    agent.setMessages([{ id: 'a9', role: 'assistant', content: 'Which tea?' }]);
    assert.deepEqual(
      (await run(agent)).map(({ type }) => type),
      ['RUN_STARTED', 'RUN_FINISHED'],
    );
    assert.equal(model.requests.length, 3);
  });
});
