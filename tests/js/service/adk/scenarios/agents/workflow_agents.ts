/** Agents that run others, one after the other or again and again. */

import type { Scenario } from '../scenario.js';
import { modelRequests } from '../stage.js';

const sequence: Scenario = {
  name: 'the agents of a sequence read what those before have put into the state',
  async run(stage) {
    const { LlmAgent, SequentialAgent } = stage.adk;
    await stage.create({ topic: 'tea' });
    const reviewer = stage.model('fine', 'better');
    const writer = stage.model('a draft', 'another draft');
    const agent = new SequentialAgent({
      name: 'both',
      subAgents: [
        new LlmAgent({
          name: 'writer',
          model: writer,
          instruction: 'About {topic}. Last review: {review?}',
          outputKey: 'draft',
        }),
        new LlmAgent({
          name: 'reviewer',
          model: reviewer,
          instruction: 'Review: {draft}',
          outputKey: 'review',
        }),
      ],
    });
    await stage.turn(agent, { text: 'one' });
    await stage.turn(agent, { text: 'two' });
    return { writer: modelRequests(writer), reviewer: modelRequests(reviewer) };
  },
  shows: {
    writer: ['About tea. Last review: ', 'About tea. Last review: fine'],
    reviewer: ['Review: a draft', 'Review: another draft'],
  },
};

const loop: Scenario = {
  name: 'an agent in a loop sees what the round before has written, until one escalates',
  async run(stage) {
    const { LlmAgent, LoopAgent } = stage.adk;
    await stage.create();
    const model = stage.model('first', 'second', 'third');
    const writer = new LlmAgent({
      name: 'writer',
      model,
      instruction: 'last: {draft?}, rounds: {rounds?}',
      outputKey: 'draft',
      afterModelCallback: ({ context }) => {
        context.state.set('rounds', context.state.get('rounds', 0)! + 1);
        return undefined;
      },
    });
    const judge = stage.agent('judge', async function* (context) {
      const event = stage.event(context, {});
      if (context.session.state.rounds === 3) event.actions.escalate = true;
      yield event;
    });
    await stage.turn(new LoopAgent({ name: 'loop', subAgents: [writer, judge] }));
    return modelRequests(model);
  },
  shows: ['last: , rounds: ', 'last: first, rounds: 1', 'last: second, rounds: 2'],
};

export const workflowAgents: readonly Scenario[] = [sequence, loop];
