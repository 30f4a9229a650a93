// The agents of tests/interop/python/agents/scripted with `@google/adk`, behind our handler and a real HTTP server.

import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  BaseLlm,
  type BaseLlmConnection,
  FunctionTool,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  LongRunningFunctionTool,
  Runner,
} from '@google/adk';
import { z } from 'zod';

import { httpServer } from '../../http_server.js';
import { InMemorySessionService } from '../../../js/index.js';
import { nodeListener, sessionHandler } from '../../../js/server/index.js';
import { asAdkService, runWith } from '../../../js/service/adk/index.js';
import { requirePairs } from '../../js/service/adk/pairing/pairing_rules.js';

export const APP = 'scripted';

/** What the model does: a response, a pause in seconds, or an exception. */
export type Step = LlmResponse | { readonly wait: number } | { readonly fail: string };

/** The model's replies, one for each request. */
export type Replies = readonly (readonly Step[])[];

let scripts = 0;

/** Makes the text of a message that says what the model does. Each is new: the models count their replies by it. */
export function scriptOf(replies: Replies): string {
  scripts += 1;
  return JSON.stringify({ replies, number: scripts });
}

class Scripted extends BaseLlm {
  readonly #given = new Map<string, number>();

  constructor() {
    super({ model: 'scripted' });
  }

  async *generateContentAsync(
    request: LlmRequest,
    stream?: boolean,
  ): AsyncGenerator<LlmResponse, void> {
    // As the providers do, it refuses calls without answers.
    requirePairs(request);
    const texts = request.contents.flatMap(({ parts = [] }) => parts.map(({ text = '' }) => text));
    const script = texts.findLast((text) => text.startsWith('{"replies"'))!;
    const index = this.#given.get(script) ?? 0;
    this.#given.set(script, index + 1);
    const { replies } = JSON.parse(script) as { replies: Replies };
    for (const step of replies[index]!) {
      if ('wait' in step) await sleep(step.wait * 1000);
      else if ('fail' in step) throw new Error(step.fail);
      else if (stream === true || step.partial !== true) yield step;
    }
  }

  connect(): Promise<BaseLlmConnection> {
    throw new Error('no live runs');
  }
}

const parameters = z.object({ n: z.number() });

function agents(): LlmAgent {
  const model = new Scripted();
  const buy = new FunctionTool({
    name: 'buy',
    description: 'Buys.',
    parameters,
    execute: ({ n }, context) => {
      context!.state.set(`bought_${n}`, true);
      return { bought: n };
    },
  });
  const pay = new FunctionTool({
    name: 'pay',
    description: 'Pays.',
    parameters,
    requireConfirmation: true,
    execute: ({ n }) => ({ paid: n }),
  });
  const order = new LongRunningFunctionTool({
    name: 'order',
    description: 'Orders.',
    parameters,
    execute: () => ({ status: 'pending' }),
  });
  const lose = new FunctionTool({
    name: 'lose',
    description: 'Fails.',
    execute: () => {
      throw new Error('no tea left');
    },
  });
  const wait = new FunctionTool({
    name: 'wait',
    description: 'Waits.',
    parameters,
    execute: async ({ n }) => {
      await sleep(n * 1000);
      return { waited: n };
    },
  });
  const helper = new LlmAgent({ name: 'helper', description: 'Helps.', model });
  return new LlmAgent({
    name: 'guide',
    model,
    tools: [buy, pay, order, lose, wait],
    subAgents: [helper],
    beforeAgentCallback: ({ state }) => {
      if (state.get('lost') === true) throw new Error('lost');
      return undefined;
    },
  });
}

/** Serves the agents. */
export async function startScriptedAgents(): Promise<{
  readonly url: string;
  readonly errors: readonly unknown[];
  readonly end: () => Promise<void>;
}> {
  const service = new InMemorySessionService();
  const sessionService = asAdkService(service);
  const runner = new Runner({ appName: APP, agent: agents(), sessionService });
  const errors: unknown[] = [];
  const handler = sessionHandler(service, {
    authorize: (_, { userId }) =>
      userId === 'ada' && { mayWriteUserState: true, mayWriteAppState: true },
    run: runWith(runner),
    onError: (error) => errors.push(error),
  });
  const listener = nodeListener(handler);
  const server = httpServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    errors,
    end: async () => {
      await handler.close({ graceMs: 0 });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await service.close();
    },
  };
}
