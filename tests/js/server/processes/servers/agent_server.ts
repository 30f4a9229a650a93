// A server whose agent is a Runner with a model that needs no network. It notes each run in a file, and may kill itself.
//
//   agent_server.ts OPTIONS
//
// The model answers `look …` with a call, and then with a text; `slow …` with a stream until the parent sends the beginning
// of the message; and anything else with its text and an exclamation mark.

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
  Runner,
} from '@google/adk';

import { httpServer } from '../../../../http_server.js';
import { asAdkService, runWith } from '../../../../../js/service/adk/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { nodeListener, sessionHandler } from '../../../../../js/server/index.js';
import { requirePairs } from '../../../service/adk/pairing/pairing_rules.js';
import { APP } from '../../fixture.js';

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
  /** Milliseconds between the partial events of a slow answer. */
  readonly paceMs?: number;
}

const options = JSON.parse(process.argv[2]!) as AgentServerOptions;
const { url, log, killAt, maxRuns = 100, processes, maxRunMs, paceMs = 20 } = options;

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
    } else if (text.startsWith('slow')) {
      let all = '';
      const isEnding = () => ending.some((beginning) => text.startsWith(beginning));
      for (let number = 0; !isEnding() && signal?.aborted !== true; number += 1) {
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

const service = new DatabaseSessionService(url);
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
const agent = new LlmAgent({ name: 'guide', model: new Model(), tools: [look] });
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
process.on('message', (beginning: string) => void ending.push(beginning));
// The test has ended.
process.on('disconnect', () => process.exit());
