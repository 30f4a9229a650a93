/** The agents of the tea house: the adviser finds a tea, and the host answers the guest. */

import { type BaseAgent, type BaseLlm, LlmAgent, SequentialAgent } from '@google/adk';
import { instruction } from 'adk-session-wasm';
import { ADVISE, SPEAK } from './instructions.js';
import { cancelOrder, countTurn, findTea, orderTea, rememberGuest } from './tools.js';

/** The model of each agent: an object, or the name of a Gemini model. */
export interface Models {
  adviser: BaseLlm | string;
  host: BaseLlm | string;
}

/** Runs both agents one after the other for each message of the guest, on one state. */
export function teaHouse(models: Models): BaseAgent {
  // `instruction(…)` renders an instruction by the rules of this package.
  // The agents cannot transfer to each other, so the framework adds nothing to the instructions.
  const alone = { disallowTransferToParent: true, disallowTransferToPeers: true };
  const adviser = new LlmAgent({
    name: 'adviser',
    model: models.adviser,
    instruction: instruction(ADVISE),
    tools: [rememberGuest, findTea, orderTea, cancelOrder],
    beforeAgentCallback: countTurn,
    ...alone,
    // Only the host reads its text, and only in this turn.
    outputKey: 'temp:advice',
  });
  const host = new LlmAgent({
    name: 'host',
    model: models.host,
    instruction: instruction(SPEAK),
    ...alone,
    outputKey: 'last_answer',
  });
  return new SequentialAgent({ name: 'tea_house', subAgents: [adviser, host] });
}
