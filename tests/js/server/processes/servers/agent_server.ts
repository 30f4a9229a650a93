// A server whose agent is a Runner with a model that needs no network. It notes each run in a file, and may kill itself.
//
//   agent_server.ts OPTIONS
//
// The model answers `look …` with a call, and then with a text; `order …` with a call that waits for the user; `slow …` with
// a stream until the parent sends the beginning of the message; and anything else with its text and an exclamation mark. The
// agent adds a second text to the answer of `twice …`.

import { appendFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
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

import { httpServer } from '../../../../http_server.js';
import { asAdkService, runWith } from '../../../../../js/service/adk/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { nodeListener, sessionHandler } from '../../../../../js/server/index.js';
import { margin } from '../../../../../js/server/runs/elsewhere.js';
import { requirePairs } from '../../../service/adk/pairing/pairing_rules.js';
import { APP } from '../../fixture.js';
import { LossyChannel, openChannelOf, type Lost } from './lossy_channel.js';

/** Where a server kills itself. Numbers count from 1. */
export type KillPoint =
  | { readonly at: 'append'; readonly number: number; readonly when: 'before' | 'after' }
  /** So many milliseconds after the append has begun. */
  | { readonly at: 'append'; readonly number: number; readonly when: 'within'; readonly ms: number }
  /** After a partial event of the answer was streamed. */
  | { readonly at: 'partial'; readonly number: number }
  /** Between a call and its answer. */
  | { readonly at: 'tool'; readonly number: 1 };

export interface AgentServerOptions {
  readonly url: string;
  /** The path of the file for the runs. */
  readonly log: string;
  readonly killAt?: KillPoint;
  readonly maxRuns?: number;
  /** Options of the handler. */
  readonly processes?: 'one' | 'many';
  readonly maxRunMs?: number;
  /** Takes the place of the 30 seconds for which a run of another process may be under way beyond `maxRunMs`. */
  readonly marginMs?: number;
  /** The URL of the server of the channel. */
  readonly channel?: string | undefined;
  readonly tablePrefix?: string;
  /** Milliseconds between the partial events of a slow answer. */
  readonly paceMs?: number;
}

const options = JSON.parse(process.argv[2]!) as AgentServerOptions;
const { url, log, killAt, maxRuns = 100, processes, maxRunMs, paceMs = 20 } = options;
const { marginMs = margin.ms, channel, tablePrefix } = options;
margin.ms = marginMs;
const lossy = new LossyChannel();

/** The beginnings of slow messages whose answers end. */
const ending: string[] = [];

const kill = (): void => void process.kill(process.pid, 'SIGKILL');
const isAt = (at: KillPoint['at'], number: number): boolean =>
  killAt?.at === at && killAt.number === number;

let partials = 0;
const partial = (text: string): LlmResponse => ({ ...says(text), partial: true });
const says = (text: string): LlmResponse => ({ content: { role: 'model', parts: [{ text }] } });

class Model extends BaseLlm {
  constructor() {
    super({ model: 'scripted' });
  }

  override async *generateContentAsync(
    request: LlmRequest,
    isStream?: boolean,
    signal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    requirePairs(request);
    for await (const response of this.#answer(request, signal)) {
      if (response.partial !== true || isStream === true) yield response;
      if (response.partial === true && isAt('partial', (partials += 1))) kill();
    }
  }

  async *#answer(
    { contents }: LlmRequest,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LlmResponse, void> {
    const parts = contents.at(-1)?.parts ?? [];
    const ordered = parts.find(({ functionResponse }) => functionResponse?.name === 'order');
    if (ordered !== undefined) {
      yield says('Ordered');
      return;
    }
    if (parts.some(({ functionResponse }) => functionResponse !== undefined)) {
      yield partial('Se');
      yield partial('en');
      yield says('Seen');
      return;
    }
    const text = parts.at(-1)?.text ?? '';
    appendFileSync(log, `run ${text}\n`);
    if (text.startsWith('look')) {
      yield partial('Let ');
      yield partial('me look');
      const functionCall = { name: 'look', args: {} };
      yield { content: { role: 'model', parts: [{ text: 'Let me look' }, { functionCall }] } };
    } else if (text.startsWith('order')) {
      const functionCall = { name: 'order', args: {} };
      yield { content: { role: 'model', parts: [{ text: 'One moment' }, { functionCall }] } };
    } else if (text.startsWith('slow')) {
      let all = '';
      const isEnding = () => ending.some((beginning) => text.startsWith(beginning));
      for (let number = 0; number === 0 || (!isEnding() && signal?.aborted !== true); number += 1) {
        all += `${number} `;
        yield partial(`${number} `);
        await pause(paceMs);
      }
      yield says(all);
    } else {
      yield partial(text);
      yield says(`${text}!`);
    }
  }

  override connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('The model holds no live connection.'));
  }
}

const service = new DatabaseSessionService(url, {
  channel: channel === undefined ? undefined : lossy.over(openChannelOf(channel)),
  tablePrefix,
});
const append = service.appendEvent.bind(service) as (request: unknown) => Promise<unknown>;
let appends = 0;
service.appendEvent = (async (request: unknown) => {
  const isHere = isAt('append', (appends += 1));
  if (!isHere || killAt?.at !== 'append') return append(request);
  if (killAt.when === 'before') kill();
  if (killAt.when === 'within') setTimeout(kill, killAt.ms);
  const appended = await append(request);
  kill();
  return appended;
}) as typeof service.appendEvent;

const look = new FunctionTool({
  name: 'look',
  description: 'looks',
  execute: () => {
    if (isAt('tool', 1)) kill();
    return { tea: 1 };
  },
});
const order = new LongRunningFunctionTool({
  name: 'order',
  description: 'orders',
  parameters: z.object({}),
  execute: () => undefined,
});
const agent = new LlmAgent({
  name: 'guide',
  model: new Model(),
  tools: [look, order],
  beforeModelCallback: ({ context: { invocationId }, request }) => {
    const asked = request.contents.at(-1)?.parts?.at(-1);
    appendFileSync(log, `model ${JSON.stringify([invocationId, asked])}\n`);
    return undefined;
  },
  afterAgentCallback: async ({ userContent }) => {
    if (userContent?.parts?.[0]?.text?.startsWith('twice') !== true) return undefined;
    await pause(300);
    return { role: 'model', parts: [{ text: 'And more' }] };
  },
});
const runner = new Runner({ appName: APP, agent, sessionService: asAdkService(service) });
const answers = runWith(runner);
const run: typeof answers = Object.assign(
  (context: Parameters<typeof answers>[0]) => {
    appendFileSync(log, `begun ${context.message.content?.parts?.[0]?.text}\n`);
    return answers(context);
  },
  { agentName: agent.name },
);
const handler = sessionHandler(service, {
  run,
  maxRuns,
  processes,
  maxRunMs,
  authorize: () => true,
  onError: (error) => console.error(error),
});
const listener = nodeListener(handler);
const server = httpServer((request, response) => void listener(request, response));
await service.ping();
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('message', (message: string | { readonly lost: Lost }) => {
  if (typeof message === 'string') ending.push(message);
  else lossy.lost = message.lost;
});
// The test has ended.
process.on('disconnect', () => process.exit());
