// The requests of the framework's Runner have the texts that Python's agents send, but for the forms that differ.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { requestOf } from './requests.js';
import { readVectors } from './vectors.js';

/** The framework's form of what another agent said. */
const said = (agent: string, text: string): string =>
  `user: For context: | [${agent}] said: ${text}`;

/** The requests that differ from Python's, and why. */
const OTHER_REQUESTS: Readonly<Record<string, readonly string[]>> = {
  // A summary that hides no agent's event has the author `model`, and so is another agent's.
  'summary_that_hides_nothing root': [
    ...['user: i1-u', 'model: i1-a', said('model', 'summary s1')],
    ...['user: i2-u', 'model: i2-a', 'user: i3-u', 'model: i3-a'],
  ],
  'summary_of_messages_only root': [said('model', 'summary s1'), 'user: i3-u', 'model: i3-a'],
  // The Runner reads once for all agents, so a summary of one branch does not count.
  'summary_of_a_branch root': [
    ...['user: i1-u', said('left', 'i1-left'), said('right', 'i1-right')],
    ...['user: i2-u', 'model: i2-a'],
  ],
  // The framework has another form for what other agents said. The summary is that of the agent that it hides.
  'several_agents helper': [
    ...[said('root', 'summary s1'), 'user: i2-u', said('root', 'i2-a')],
    ...['user: i3-u', said('root', 'i3-a')],
  ],
  // Python leaves out what the agent said between two responses to its call.
  'replies_between_two_responses root': [
    ...['user: i1-u', 'model: call ask c1', 'user: response ask c1', 'model: i1-wait'],
    ...['model: i1-a', 'user: i2-u', 'model: i2-a'],
  ],
  // The framework leaves out other events than Python.
  'events_that_no_model_sees root': [
    ...['user: i1-u', 'model: hm', 'user: i1-node', said('tool', 'i1-tool')],
    ...['model: call ask c9', 'user: response ask c9', 'user: i2-u', 'model: i2-a'],
  ],
};

describe('The request that the Runner sends to the model', () => {
  for (const { name, events, contexts } of readVectors()) {
    for (const { agentName, branch, isolationScope, texts } of contexts) {
      // A Runner's own agent has no branch and no scope.
      if (branch !== undefined || isolationScope !== undefined) continue;
      it(`of ${agentName} has the texts of the vector: ${name}`, async () => {
        const expected = OTHER_REQUESTS[`${name} ${agentName}`] ?? texts;
        assert.deepEqual(await requestOf(events, agentName, 'model'), expected);
      });
    }
  }

  it('differs from Python only where a vector does', () => {
    const contexts = readVectors().flatMap(({ name, contexts }) =>
      contexts.map(({ agentName }) => `${name} ${agentName}`),
    );
    for (const name of Object.keys(OTHER_REQUESTS)) assert.ok(contexts.includes(name), name);
  });
});
