import type { LlmRequest, LlmResponse } from '@google/adk';

/**
 * What the model answers to one request: a text, one response, or the responses of a stream, of which
 * all but the last are `partial`.
 */
export type Answer = string | LlmResponse | LlmResponse[];

/** An answer, or what makes it of the request. */
export type Reply = Answer | ((request: LlmRequest) => Answer | Promise<Answer>);

/** What a scripted model answers, one reply a request. It needs nothing of the framework. */
export class ModelScript {
  /** What the model was asked, in order. */
  readonly requests: LlmRequest[] = [];
  readonly #replies: Reply[];

  constructor(replies: Iterable<Reply>) {
    this.#replies = [...replies];
  }

  async *answer(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    this.requests.push(request);
    const reply = this.#replies.shift();
    if (reply === undefined) throw new Error('The script is over, and the model was asked again.');
    const answer = typeof reply === 'function' ? await reply(request) : reply;
    if (typeof answer === 'string') yield say(answer);
    else if (Array.isArray(answer)) yield* answer;
    else yield answer;
  }
}

/** A response that says something. */
export function say(text: string): LlmResponse {
  return { content: { role: 'model', parts: [{ text }] } };
}

/** A response that wants a tool to be called. */
export function call(name: string, args: Record<string, unknown> = {}): LlmResponse {
  return calls([name, args]);
}

/** A response that wants several tools to be called at once. */
export function calls(...wanted: [name: string, args: Record<string, unknown>][]): LlmResponse {
  const parts = wanted.map(([name, args]) => ({ functionCall: { name, args } }));
  return { content: { role: 'model', parts } };
}

/** The instruction that a request gives the model. */
export function instructionOf({ config }: LlmRequest): string {
  // The framework writes text there; other forms are for those who build requests themselves.
  const { systemInstruction = '' } = config ?? {};
  return typeof systemInstruction === 'string'
    ? systemInstruction
    : JSON.stringify(systemInstruction);
}
