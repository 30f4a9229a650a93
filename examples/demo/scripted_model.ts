import { BaseLlm, type BaseLlmConnection, type LlmRequest, type LlmResponse } from '@google/adk';

import { ModelScript, type Reply } from './model_script.js';

/**
 * A model that answers from a script, one reply for each request. So agents run without a network or a
 * key, and always in the same way.
 *
 * @example
 * ```ts
 * const model = new ScriptedModel([call('find_tea', { time: 'evening' }), 'Try the rooibos.']);
 * const agent = new LlmAgent({ name: 'host', model, tools: [findTea] });
 * ```
 */
export class ScriptedModel extends BaseLlm {
  readonly #script: ModelScript;

  constructor(replies: Iterable<Reply>) {
    super({ model: 'scripted' });
    this.#script = new ModelScript(replies);
  }

  /** The requests so far, in order. */
  get requests(): LlmRequest[] {
    return this.#script.requests;
  }

  generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    return this.#script.answer(request);
  }

  connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('A scripted model holds no live connection.'));
  }
}
