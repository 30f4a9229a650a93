/** Compactors of the context: they change the handle's `events` under the service's feet. */

import type { BaseContextCompactor, BaseSummarizer, Event, LlmAgentConfig } from '@google/adk';

import { toolCall, type Reply } from '../model_script.js';
import { type Framework, type Scenario, textOf } from './scenario.js';
import { nextMillisecond, type Stage } from './stage.js';

function summarizer(adk: Framework): BaseSummarizer {
  return {
    summarize: async (events) => {
      const content = { role: 'user', parts: [{ text: `summary of ${events.length}` }] };
      const summary = adk.createEvent({ author: 'system', content });
      const [first, last] = [events[0], events.at(-1)];
      const span = { startTime: first?.timestamp ?? 0, endTime: last?.timestamp ?? 0 };
      return { ...summary, ...span, isCompacted: true, compactedContent: 'summary' };
    },
  };
}

/** Turn after turn with one compactor; what is on the handle, in short, when each has ended. */
async function converse(
  stage: Stage,
  compactor: BaseContextCompactor,
  turns: readonly (readonly Reply[])[],
  config: Partial<LlmAgentConfig> = {},
) {
  await stage.create();
  const model = stage.model(...turns.flat());
  const handles: (readonly Event[])[] = [];
  const agent = new stage.adk.LlmAgent({
    name: 'agent',
    model,
    contextCompactors: [compactor],
    // Compactors distinguish events by the millisecond, so a question and its answer must not share one.
    beforeAgentCallback: async () => {
      await nextMillisecond();
      return undefined;
    },
    ...config,
  });
  class HandleReader extends stage.adk.BasePlugin {
    override afterRunCallback({
      invocationContext,
    }: {
      invocationContext: { session: { events: Event[] } };
    }) {
      handles.push([...invocationContext.session.events]);
      return Promise.resolve();
    }
  }
  for (const number of turns.keys()) {
    const plugins = [new HandleReader('reader')];
    await stage.turn(agent, { text: `question ${number}`, runner: { plugins } });
    await nextMillisecond();
  }
  const contents = model.requests.map(({ contents }) =>
    contents.map(({ parts = [] }) => parts.map(({ text = 'no text' }) => text).join(' ')),
  );
  const stored = (await stage.stored()).events.map(textOf);
  return { contents, handles: handles.map((events) => events.map(textOf)), stored };
}

const answers = (count: number) => Array.from({ length: count }, (_, n) => [`answer ${n}`]);

const truncating: Scenario = {
  name: 'where a TruncatingContextCompactor cuts the handle, the store keeps everything',
  run: (stage) =>
    converse(stage, new stage.adk.TruncatingContextCompactor({ threshold: 2 }), answers(3)),
  shows: {
    contents: [['question 0'], ['answer 0', 'question 1'], ['answer 1', 'question 2']],
    handles: [
      ['question 0', 'answer 0'],
      ['answer 0', 'question 1', 'answer 1'],
      ['answer 1', 'question 2', 'answer 2'],
    ],
    stored: ['question 0', 'answer 0', 'question 1', 'answer 1', 'question 2', 'answer 2'],
  },
};

const pruning: Scenario = {
  name: 'an event that a TrajectoryThoughtPruningCompactor has pruned takes the place of the stored one',
  run: (stage) => {
    const { TrajectoryThoughtPruningCompactor } = stage.adk;
    const compactor = new TrajectoryThoughtPruningCompactor({ eventRetentionSize: 2 });
    const thoughtful = [0, 1, 2].map((n) => [
      {
        content: {
          role: 'model',
          parts: [{ text: 'Hm. ', thought: true }, { text: `answer ${n}` }],
        },
      },
    ]);
    return converse(stage, compactor, thoughtful);
  },
  shows: {
    contents: [
      ['question 0'],
      ['question 0', 'Hm.  answer 0', 'question 1'],
      ['question 0', 'answer 0', 'question 1', 'Hm.  answer 1', 'question 2'],
    ],
    handles: [
      ['question 0', 'Hm. answer 0'],
      ['question 0', 'Hm. answer 0', 'question 1', 'Hm. answer 1'],
      ['question 0', 'answer 0', 'question 1', 'Hm. answer 1', 'question 2', 'Hm. answer 2'],
    ],
    stored: ['question 0', 'answer 0', 'question 1', 'Hm. answer 1', 'question 2', 'Hm. answer 2'],
  },
};

const tokenBased: Scenario = {
  name: 'the summary of a TokenBasedContextCompactor, on the handle already, stands there once',
  run: (stage) => {
    const { TokenBasedContextCompactor } = stage.adk;
    const options = { tokenThreshold: 1, eventRetentionSize: 2 };
    const compactor = new TokenBasedContextCompactor({
      ...options,
      summarizer: summarizer(stage.adk),
    });
    return converse(stage, compactor, answers(4));
  },
  shows: {
    contents: [
      ['question 0'],
      ['[Previous Context Summary]:\nsummary', 'answer 0', 'question 1'],
      ['[Previous Context Summary]:\nsummary', 'answer 1', 'question 2'],
      ['[Previous Context Summary]:\nsummary', 'answer 2', 'question 3'],
    ],
    handles: [
      ['question 0', 'answer 0'],
      ['question 0', 'answer 0', 'question 1', 'summary of 1', 'answer 1'],
      [
        'question 0',
        'answer 0',
        'question 1',
        'summary of 1',
        'answer 1',
        'question 2',
        'summary of 3',
        'answer 2',
      ],
      [
        'question 0',
        'answer 0',
        'question 1',
        'summary of 1',
        'answer 1',
        'question 2',
        'summary of 3',
        'answer 2',
        'question 3',
        'summary of 3',
        'answer 3',
      ],
    ],
    stored: [
      'question 0',
      'answer 0',
      'question 1',
      'summary of 1',
      'answer 1',
      'question 2',
      'summary of 3',
      'answer 2',
      'question 3',
      'summary of 3',
      'answer 3',
    ],
  },
};

const anchor = (stage: Stage, eventRetentionSize: number) =>
  new stage.adk.AnchoredContextCompactor({
    tokenThreshold: 1,
    eventRetentionSize,
    summarizer: summarizer(stage.adk),
  });

const anchored: Scenario = {
  name: 'an AnchoredContextCompactor, which repeats events on the handle, has each stored once',
  run: (stage) => converse(stage, anchor(stage, 3), answers(4)),
  shows: {
    contents: [
      ['question 0'],
      ['question 0', 'answer 0', 'question 1'],
      ['[Previous Context Summary]:\nsummary', 'question 1', 'answer 1', 'question 2'],
      [
        '[Previous Context Summary]:\nsummary',
        'question 2',
        'question 2',
        'answer 2',
        'question 3',
      ],
    ],
    handles: [
      ['question 0', 'answer 0'],
      ['question 0', 'answer 0', 'question 1', 'answer 1'],
      ['summary of 2', 'question 1', 'answer 1', 'question 2', 'answer 2'],
      [
        'question 0',
        'answer 0',
        'question 1',
        'answer 1',
        'question 2',
        'summary of 3',
        'question 2',
        'answer 2',
        'question 3',
        'answer 3',
      ],
    ],
    stored: [
      'question 0',
      'answer 0',
      'question 1',
      'answer 1',
      'question 2',
      'summary of 2',
      'answer 2',
      'question 3',
      'summary of 3',
      'answer 3',
    ],
  },
};

const inPlace: Scenario = {
  name: 'a summary that takes the place of one event, so that the handle is as long as before, is stored',
  run: (stage) => converse(stage, anchor(stage, 4), answers(3)),
  shows: {
    contents: [
      ['question 0'],
      ['question 0', 'answer 0', 'question 1'],
      ['[Previous Context Summary]:\nsummary', 'answer 0', 'question 1', 'answer 1', 'question 2'],
    ],
    handles: [
      ['question 0', 'answer 0'],
      ['question 0', 'answer 0', 'question 1', 'answer 1'],
      ['summary of 1', 'answer 0', 'question 1', 'answer 1', 'question 2', 'answer 2'],
    ],
    stored: [
      'question 0',
      'answer 0',
      'question 1',
      'answer 1',
      'question 2',
      'summary of 1',
      'answer 2',
    ],
  },
};

const agentControlled: Scenario = {
  name: 'the summary that an agent asked for stands in the store once, and no temp: flag does',
  run: (stage) => {
    const { AgentControlledContextCompactor, ConsolidateContextTool } = stage.adk;
    const compactor = new AgentControlledContextCompactor({ summarizer: summarizer(stage.adk) });
    const turns = [
      ['answer 0'],
      [toolCall('consolidate_context', { detail: 'tea' }), 'answer 1'],
      ['answer 2'],
    ];
    return converse(stage, compactor, turns, { tools: [new ConsolidateContextTool()] });
  },
  shows: {
    contents: [
      ['question 0'],
      ['question 0', 'answer 0', 'question 1'],
      ['[Previous Context Summary]:\nsummary', 'no text', 'no text'],
      ['[Previous Context Summary]:\nsummary', 'no text', 'no text', 'answer 1', 'question 2'],
    ],
    handles: [
      ['question 0', 'answer 0'],
      ['question 0', 'answer 0', 'question 1', '', '', 'summary of 4', 'answer 1'],
      [
        'question 0',
        'answer 0',
        'question 1',
        '',
        '',
        'summary of 4',
        'answer 1',
        'question 2',
        'answer 2',
      ],
    ],
    stored: [
      'question 0',
      'answer 0',
      'question 1',
      '',
      '',
      'summary of 4',
      'answer 1',
      'question 2',
      'answer 2',
    ],
  },
};

export const compaction: readonly Scenario[] = [
  truncating,
  pruning,
  tokenBased,
  anchored,
  inPlace,
  agentControlled,
];
