import { BaseLlm, type BaseLlmConnection, type LlmRequest, type LlmResponse } from '@google/adk';

import { ModelScript, type Reply } from '../model_script.js';
import { requirePairs } from './pairing_rules.js';

/**
 * A model that answers from a script, one reply for each request. So agents run without a network or a key, and always in
 * the same way. It fails at a request that a provider would refuse.
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

  override generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    requirePairs(request);
    return this.#script.answer(request);
  }

  override connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('A scripted model holds no live connection.'));
  }
}
