import { BaseLlm, type BaseLlmConnection, type LlmResponse } from '@google/adk';

/** A text, or the calls of tools: their names and arguments. */
export type Reply = string | readonly (readonly [name: string, args: Record<string, unknown>])[];

/** A model that answers from a script, one reply for each request. So the demo needs no network and no key. */
export class ScriptedModel extends BaseLlm {
  readonly #replies: Reply[];

  constructor(replies: readonly Reply[]) {
    super({ model: 'scripted' });
    this.#replies = [...replies];
  }

  async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    const reply = this.#replies.shift();
    if (reply === undefined) throw new Error('The script is over, and the model was asked again.');
    const parts =
      typeof reply === 'string'
        ? [{ text: reply }]
        : reply.map(([name, args]) => ({ functionCall: { name, args } }));
    yield await Promise.resolve({ content: { role: 'model', parts } });
  }

  connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('A scripted model holds no live connection.'));
  }
}
