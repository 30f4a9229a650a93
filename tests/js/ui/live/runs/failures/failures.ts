// What the frameworks store when something fails: agents of `@google/adk` that fail, and events of google-adk 2.13.

import {
  type BaseAgent,
  BaseLlm,
  type BaseLlmConnection,
  FunctionTool,
  LlmAgent,
  type LlmResponse,
  ParallelAgent,
  SequentialAgent,
} from '@google/adk';

import type { NewEvent } from '../../../../../../js/index.js';
import { says } from '../agents.js';

/** What a run is known as afterwards. */
export interface Expected {
  /** `undefined`: it has an answer. */
  readonly status: 'failed' | 'unanswered' | undefined;
  /** What the cause of the error is. */
  readonly cause?: { readonly code: string; readonly message?: string } | undefined;
  /** The half answer that stays. */
  readonly draft?: string;
}

type Step = LlmResponse | { readonly throws: unknown };

const text = (said: string): Step => ({ content: says(said) });
const partial = (said: string): Step => ({ content: says(said), partial: true });
const fails = (message = 'quota'): Step => ({ throws: new Error(message) });
const calls = (name: string): Step => ({
  content: { role: 'model', parts: [{ functionCall: { name, args: {} } }] },
});
const coded = (errorCode: string, parts?: object[]): Step => ({
  errorCode,
  ...(parts && { content: { role: 'model', parts } }),
});

/** A model that does what the steps of each of its calls say. */
class ScriptedModel extends BaseLlm {
  readonly #calls: (readonly Step[])[];

  constructor(...calls: (readonly Step[])[]) {
    super({ model: 'script' });
    this.#calls = [...calls];
  }

  async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    for (const step of this.#calls.shift() ?? []) {
      if ('throws' in step) throw step.throws;
      yield step;
    }
  }

  connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('unused'));
  }
}

const lose = new FunctionTool({
  name: 'lose',
  description: 'loses',
  execute: () => Promise.reject(new Error('no tea left')),
});

const llm = (name: string, ...replies: (readonly Step[])[]): LlmAgent =>
  new LlmAgent({ name, model: new ScriptedModel(...replies), tools: [lose] });

const guide = (...replies: (readonly Step[])[]) => llm('guide', ...replies);

const UNKNOWN = { code: 'UNKNOWN_ERROR', message: 'quota' };
const JSON_ERROR = JSON.stringify({ error: { code: 429, message: 'quota' } });

/** Agents of `@google/adk`, by what happens. */
export const AGENTS: Readonly<Record<string, readonly [make: () => BaseAgent, Expected]>> = {
  'the model throws an Error': [() => guide([fails()]), { status: 'failed', cause: UNKNOWN }],
  'the message of the Error is JSON': [
    () => guide([fails(JSON_ERROR)]),
    { status: 'failed', cause: { code: '429', message: 'quota' } },
  ],
  'the model throws a string': [() => guide([{ throws: 'quota' }]), { status: 'failed' }],
  'partials, then an Error': [
    () => guide([partial('Gre'), partial('en'), fails()]),
    { status: 'failed', cause: UNKNOWN, draft: 'Green' },
  ],
  'a whole answer, then an Error': [
    () => guide([text('Green'), fails()]),
    { status: 'failed', cause: UNKNOWN },
  ],
  'an error code without content': [
    () => guide([coded('SAFETY')]),
    { status: 'failed', cause: { code: 'SAFETY', message: 'SAFETY' } },
  ],
  'an error code with a text': [
    () => guide([coded('MAX_TOKENS', [{ text: 'Gre' }])]),
    { status: undefined },
  ],
  'an error code with no part': [
    () => guide([coded('SAFETY', [])]),
    { status: 'failed', cause: { code: 'SAFETY', message: 'SAFETY' } },
  ],
  'an error code with an empty text': [
    () => guide([coded('SAFETY', [{ text: '' }])]),
    { status: 'failed', cause: { code: 'SAFETY', message: 'SAFETY' } },
  ],
  'an error code with a thought': [
    () => guide([coded('SAFETY', [{ text: 'Hm.', thought: true }])]),
    { status: 'failed', cause: { code: 'SAFETY', message: 'SAFETY' } },
  ],
  'STOP without content': [() => guide([{ turnComplete: true }]), { status: 'unanswered' }],
  'a tool throws, and the model goes on': [
    () => guide([calls('lose')], [text('Lost')]),
    { status: undefined },
  ],
  'a tool throws, then the model': [
    () => guide([calls('lose')], [fails()]),
    { status: 'failed', cause: UNKNOWN },
  ],
  'a tool that does not exist': [
    () => guide([calls('find')], [text('None')]),
    { status: undefined },
  ],
  'the first of a sequence fails': [
    () =>
      new SequentialAgent({
        name: 'both',
        subAgents: [llm('first', [fails()]), llm('second', [text('Green')])],
      }),
    { status: undefined },
  ],
  'the second of a sequence fails': [
    () =>
      new SequentialAgent({
        name: 'both',
        subAgents: [llm('first', [text('Green')]), llm('second', [fails()])],
      }),
    { status: 'failed', cause: UNKNOWN },
  ],
  'one of two parallel agents fails, and the other one answers later': [
    () => {
      const later = async (): Promise<undefined> => {
        for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
        return undefined;
      };
      const slow = new LlmAgent({
        name: 'second',
        model: new ScriptedModel([text('Green')]),
        beforeModelCallback: later,
      });
      return new ParallelAgent({ name: 'both', subAgents: [llm('first', [fails()]), slow] });
    },
    { status: undefined },
  ],
  'a transfer to an agent that fails': [
    () => {
      const transfer: Step = {
        content: {
          role: 'model',
          parts: [{ functionCall: { name: 'transfer_to_agent', args: { agentName: 'other' } } }],
        },
      };
      const model = new ScriptedModel([transfer]);
      return new LlmAgent({ name: 'guide', model, subAgents: [llm('other', [fails()])] });
    },
    { status: 'failed', cause: UNKNOWN },
  ],
};

const called: Partial<NewEvent> = {
  content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'lose', args: {} } }] },
};
const answered: Partial<NewEvent> = {
  content: {
    role: 'user',
    parts: [{ functionResponse: { id: 'c1', name: 'lose', response: { error: 'none' } } }],
  },
};
const EXCEPTION = { errorCode: 'ClientError', errorMessage: '429 RESOURCE_EXHAUSTED' };
const EXCEPTION_CAUSE = { code: 'ClientError', message: '429 RESOURCE_EXHAUSTED' };
const NO_CONTENT = { errorCode: 'MODEL_RETURNED_NO_CONTENT', errorMessage: 'no content' };
const NO_CONTENT_CAUSE = { code: 'MODEL_RETURNED_NO_CONTENT', message: 'no content' };

/** What google-adk stores behind the message, by what happens. */
export const STORED_BY_PYTHON: Readonly<
  Record<string, readonly [events: readonly Partial<NewEvent>[], Expected]>
> = {
  'the model raises': [[EXCEPTION], { status: 'failed', cause: EXCEPTION_CAUSE }],
  'a tool raises': [[called, EXCEPTION], { status: 'failed', cause: EXCEPTION_CAUSE }],
  'the model raises behind a tool': [
    [called, answered, EXCEPTION],
    { status: 'failed', cause: EXCEPTION_CAUSE },
  ],
  'an error code without content': [
    [{ errorCode: 'SAFETY' }],
    { status: 'failed', cause: { code: 'SAFETY', message: 'SAFETY' } },
  ],
  'an error code with a text': [
    [{ errorCode: 'MAX_TOKENS', content: says('Gre') }],
    { status: undefined },
  ],
  'STOP with a thought': [
    [{ ...NO_CONTENT, content: { role: 'model', parts: [{ text: 'Hm.', thought: true }] } }],
    { status: 'failed', cause: NO_CONTENT_CAUSE },
  ],
  'STOP without content': [[NO_CONTENT], { status: 'failed', cause: NO_CONTENT_CAUSE }],
  'a tool that does not exist': [
    [called, answered, { content: says('None') }],
    { status: undefined },
  ],
  'the first of a sequence raises': [[], { status: 'unanswered' }],
};
