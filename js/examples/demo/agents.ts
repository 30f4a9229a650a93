/** The agents of the tea house: one finds the advice, the other puts it into words for the guest. */

import { type BaseAgent, type BaseLlm, LlmAgent, SequentialAgent } from '@google/adk';
import { instruction } from 'adk-session-wasm';
import { cancelOrder, countTurn, findTea, orderTea, rememberGuest } from './tools.js';

/** Which model each of the agents asks: one of yours, or the name of a Gemini model. */
export interface Models {
  adviser: BaseLlm | string;
  host: BaseLlm | string;
}

/** `{name}` must be there, `{name?}` may be missing; `instruction(…)` renders it by our rules. */
const ADVISE = `You advise the guests of a tea house on {topic}. Use your tools for all they do.
Guest: {user:name?}
Likes: {user:favourite?}
Order: {order?}
Notice of the house: {app:motd}
Found in this turn: {temp:found?}`;

const SPEAK = `You are the host of a tea house. Say this to {user:name?} in one kind sentence:
{temp:advice}`;

/** Both run on each message of the guest, one after the other, on one state. */
export function teaHouse(models: Models): BaseAgent {
  // They take turns and never hand over, so the framework tells the model nothing of its own.
  const alone = { disallowTransferToParent: true, disallowTransferToPeers: true };
  const adviser = new LlmAgent({
    name: 'adviser',
    model: models.adviser,
    instruction: instruction(ADVISE),
    tools: [rememberGuest, findTea, orderTea, cancelOrder],
    beforeAgentCallback: countTurn,
    ...alone,
    // What it says is for the host alone, and only in this turn.
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
