/** The agents of the tea house: the adviser finds a tea, and the host answers the guest. */

import { type BaseAgent, type BaseLlm, LlmAgent, SequentialAgent } from '@google/adk';
import { instruction } from 'adk-session-wasm';
import { cancelOrder, countTurn, findTea, orderTea, rememberGuest } from './tools.js';

/** The model of each agent: an object, or the name of a Gemini model. */
export interface Models {
  adviser: BaseLlm | string;
  host: BaseLlm | string;
}

/** `{name}` is required, `{name?}` is optional; `instruction(…)` renders it by the rules of this package. */
const ADVISE = `You advise the guests of a tea house on {topic}. Use your tools for all they do.
Guest: {user:name?}
Likes: {user:favourite?}
Order: {order?}
Notice of the house: {app:motd}
Found in this turn: {temp:found?}`;

const SPEAK = `You are the host of a tea house. Say this to {user:name?} in one kind sentence:
{temp:advice}`;

/** Runs both agents one after the other for each message of the guest, on one state. */
export function teaHouse(models: Models): BaseAgent {
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
