// Conversations of the real Runner with a model that keeps its requests.
import assert from 'node:assert/strict';

import {
  BaseLlm,
  type BaseAgent,
  type BaseLlmConnection,
  type Event,
  type LlmRequest,
  type LlmResponse,
  Runner,
} from '@google/adk';

import { requirePairs } from '../pairing/pairing_rules.js';
import { asAdkService } from '../../../../../js/service/adk/index.js';
import { branches, rewind, switchBranch } from '../../../../../js/core/history/index.js';
import { createEventActions, InMemorySessionService } from '../../../../../js/index.js';

export const KEY = { appName: 'app', userId: 'u', sessionId: 's' };

type Content = LlmRequest['contents'][number];
export type Part = NonNullable<Content['parts']>[number];

/** A model that answers by the request alone, so that equal requests have equal answers. */
export class RecordingModel extends BaseLlm {
  readonly #requests: Content[][];
  readonly #reply: (last: Part, request: LlmRequest) => Part[];

  readonly #checksPairs: boolean;

  constructor(
    requests: Content[][],
    reply: (last: Part, request: LlmRequest) => Part[],
    { checksPairs = true } = {},
  ) {
    super({ model: 'recording' });
    this.#checksPairs = checksPairs;
    this.#requests = requests;
    this.#reply = reply;
  }

  async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    // A tool of these agents may wait for a confirmation.
    if (this.#checksPairs) requirePairs(request, (name) => name === 'work');
    this.#requests.push(structuredClone(request.contents));
    const last = request.contents.at(-1)?.parts?.at(-1) ?? {};
    yield { content: { role: 'model', parts: this.#reply(last, request) } };
  }

  connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('not live'));
  }
}

/** What the user sends: a text, or what the events of the turns before ask for. */
export type Message = string | ((events: readonly Event[]) => Part);

/** The agent, and the list that gets what reaches models. */
export type MakeAgent = (requests: Content[][]) => BaseAgent;

/**
 * A step of a conversation. A turn has a name, and each name is said once; `rewind` undoes the turn and all after it;
 * `switch` brings the turn back with what followed it; `compact` is a compaction of Python from one turn to another.
 */
export type Step =
  | { readonly say: string; readonly message?: Message }
  | { readonly rewind: string }
  | { readonly switch: string }
  | { readonly compact: readonly [from: string, to: string] };

/** Has a conversation, and returns what reached models in its last turn. */
export async function lastRequests(make: MakeAgent, steps: readonly Step[]): Promise<Content[][]> {
  const requests: Content[][] = [];
  const service = new InMemorySessionService();
  await service.createSession(KEY);
  const runner = new Runner({
    appName: KEY.appName,
    agent: make(requests),
    sessionService: asAdkService(service),
  });
  /** The invocation of each turn. */
  const turns = new Map<string, string>();
  const stored = async (view: 'raw' | 'transcript' = 'raw'): Promise<Event[]> =>
    (await service.getSession({ ...KEY, config: { view } }))!.events;
  for (const step of steps) {
    if ('say' in step) {
      requests.length = 0;
      const { say, message = say } = step;
      const part =
        typeof message === 'string' ? { text: message } : message(await stored('transcript'));
      for await (const event of runner.runAsync({
        ...KEY,
        newMessage: { role: 'user', parts: [part] },
      })) {
        assert.equal(event.errorMessage, undefined);
        turns.set(say, event.invocationId || turns.get(say)!);
      }
    } else if ('rewind' in step) {
      await rewind(service, { ...KEY, before: { invocationId: turns.get(step.rewind)! } });
    } else if ('switch' in step) {
      const all = (await branches(service, KEY)).flatMap(({ alternatives }) => alternatives);
      const found = all.find(({ invocationId }) => invocationId === turns.get(step.switch));
      await switchBranch(service, { ...KEY, branch: found!.branch! });
    } else {
      const [from, to] = step.compact.map((name) => turns.get(name));
      const events = await stored();
      const first = events.find(({ invocationId }) => invocationId === from)!;
      const last = events.findLast(({ invocationId }) => invocationId === to)!;
      const compactedContent = {
        role: 'model',
        parts: [{ text: `SUM ${step.compact.join('-')}` }],
      };
      const compaction = {
        startTimestamp: first.timestamp,
        endTimestamp: last.timestamp,
        compactedContent,
      };
      const session = (await service.getSession(KEY))!;
      const actions = createEventActions({ compaction } as object);
      const event = { invocationId: crypto.randomUUID(), author: 'user', actions };
      await service.appendEvent({ session, event });
    }
  }
  return requests;
}

/** Gives ids that differ from run to run their place in the order of their first use. */
export function withoutRandomIds(requests: readonly Content[][]): unknown {
  const seen = new Map<string, string>();
  const name = (id: string): string => {
    if (!seen.has(id)) seen.set(id, `id ${seen.size}`);
    return seen.get(id)!;
  };
  const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  return JSON.parse(JSON.stringify(requests).replace(uuid, name));
}

/** The texts of the parts of each request, with roles. */
export function textsOf(requests: readonly Content[][]): string[][] {
  return requests.map((contents) =>
    contents.map(
      ({ role, parts = [] }) => `${role}: ${parts.map((part) => part.text ?? '…').join(' | ')}`,
    ),
  );
}

/** Makes each time another one, as events of real runs have. */
export function distinctTimes(): () => number {
  let now = Date.now();
  return () => (now += 1);
}
