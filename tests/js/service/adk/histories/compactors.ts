// Agents with each of the framework's compactors. A model that is asked for a summary tells what it summarises.
import {
  AgentControlledContextCompactor,
  AnchoredContextCompactor,
  ConsolidateContextTool,
  LlmAgent,
  type LlmAgentConfig,
  LlmSummarizer,
  TokenBasedContextCompactor,
  TrajectoryThoughtPruningCompactor,
  TruncatingContextCompactor,
} from '@google/adk';

import { type MakeAgent, type Part, RecordingModel } from './conversation.js';

type Compactor = NonNullable<LlmAgentConfig['contextCompactors']>[number];

/** The summary names the messages of users in the events that it is made from. */
const summarizer = new LlmSummarizer({
  llm: new RecordingModel([], ({ text = '' }) => {
    const told = text.match(/SUM.*|(plain|special) \d(?=\n)/g) ?? [];
    return [{ text: `SUM(${told.join()})` }];
  }),
});

const withCompactors =
  (...contextCompactors: Compactor[]): MakeAgent =>
  (requests) => {
    const reply = ({ text }: Part): Part[] =>
      text?.startsWith('special') === true
        ? [{ functionCall: { name: 'consolidate_context', args: { detail: text } } }]
        : [{ text: `thought of ${text}`, thought: true }, { text: `answer to ${text}.` }];
    return new LlmAgent({
      name: 'root',
      // This compactor of the framework cuts between a call and its response.
      model: new RecordingModel(requests, reply, {
        checksPairs: !contextCompactors.some((one) => one instanceof TruncatingContextCompactor),
      }),
      tools: [new ConsolidateContextTool()],
      contextCompactors,
    });
  };

const limits = { tokenThreshold: 1, eventRetentionSize: 3, summarizer };

export const WITHOUT_COMPACTOR = withCompactors();

export const COMPACTORS: Readonly<Record<string, MakeAgent>> = {
  TokenBasedContextCompactor: withCompactors(new TokenBasedContextCompactor(limits)),
  AnchoredContextCompactor: withCompactors(new AnchoredContextCompactor(limits)),
  AgentControlledContextCompactor: withCompactors(
    new AgentControlledContextCompactor({ summarizer }),
  ),
  TruncatingContextCompactor: withCompactors(new TruncatingContextCompactor({ threshold: 4 })),
  TrajectoryThoughtPruningCompactor: withCompactors(
    new TrajectoryThoughtPruningCompactor({ eventRetentionSize: 3 }),
  ),
};
