import type { LlmRequest, LlmResponse } from '@google/adk';

/**
 * The model's answer to one request: a text, one response, or the responses of a stream, which are
 * `partial` except for the last one.
 */
export type Answer = string | LlmResponse | LlmResponse[];

/** An answer, or a function that makes it from the request. */
export type Reply = Answer | ((request: LlmRequest) => Answer | Promise<Answer>);

/** The replies of a scripted model, one for each request. It does not load the framework. */
export class ModelScript {
  /** The requests so far, in order. */
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
    if (typeof answer === 'string') yield textResponse(answer);
    else if (Array.isArray(answer)) yield* answer;
    else yield answer;
  }
}

/** Makes a response with a text. */
export function textResponse(text: string): LlmResponse {
  return { content: { role: 'model', parts: [{ text }] } };
}

/** Makes a response that calls a tool. */
export function toolCall(name: string, args: Record<string, unknown> = {}): LlmResponse {
  return toolCalls([name, args]);
}

/** Makes a response that calls several tools at once. */
export function toolCalls(
  ...functionCalls: [name: string, args: Record<string, unknown>][]
): LlmResponse {
  const parts = functionCalls.map(([name, args]) => ({ functionCall: { name, args } }));
  return { content: { role: 'model', parts } };
}

/** Returns the instruction of a request. */
export function instructionOf({ config }: LlmRequest): string {
  // The framework writes a text; the other forms come from hand-made requests.
  const { systemInstruction = '' } = config ?? {};
  return typeof systemInstruction === 'string'
    ? systemInstruction
    : JSON.stringify(systemInstruction);
}
