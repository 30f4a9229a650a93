import type { LlmRequest, LlmResponse } from '@google/adk';

import { ScriptedModel as ExampleModel } from '../../../../examples/demo/scripted_model.js';
import { requirePairs } from './pairing_rules.js';

/** The scripted model of the tests: it fails at a request that a provider would refuse. */
export class ScriptedModel extends ExampleModel {
  override generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    requirePairs(request);
    return super.generateContentAsync(request);
  }
}
