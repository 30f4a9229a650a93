/** Parallel agents that write to one state. */

import type { BaseAgent, InvocationContext } from '@google/adk';

import { type Difference, type Scenario } from '../scenario.js';
import { gate, type Stage } from '../stage.js';

type Who = 'early' | 'late';

/**
 * Two agents: `early` writes a key first, `late` writes it second. Then their events are appended in the given
 * order.
 */
async function race(stage: Stage, name: string, first: Who) {
  const { adk } = stage;
  await stage.create();
  const written = { early: gate(), late: gate() };
  const appended = { early: gate(), late: gate() };
  let handle: unknown;
  const agent = (who: Who): BaseAgent =>
    stage.agent(who, async function* (context: InvocationContext) {
      if (who === 'late') await written.early.opened;
      const event = stage.write(context, name, who);
      written[who].open();
      await written.late.opened;
      if (who !== first) await appended[first].opened;
      yield event;
      // The Runner has appended the event, and requests the next one.
      appended[who].open();
      handle = context.session.state[name];
    });
  const both = new adk.ParallelAgent({ name: 'both', subAgents: [agent('early'), agent('late')] });
  const events = await stage.turn(both);
  return { order: events.map(({ author }) => author), handle };
}

/** For the event at this place among the stored ones, which is not the last that wrote the key. */
export const superseded = (place: number, key: string, theirs: unknown): Difference => ({
  path: `stored.0.events.${place}.actions.stateDelta.${key}`,
  ours: undefined,
  theirs,
  why: 'a write that a later one has overtaken is taken out of the event that is stored after it, so that the stored events fold to the stored state',
});

/** The value of a key of this scope if the last write is appended first. */
const rolledBack = (key: string): Difference[] => [
  superseded(2, key, 'early'),
  {
    path: `stored.0.state.${key}`,
    ours: 'late',
    theirs: 'early',
    why: 'there the event that is appended last rolls user: and app: state back to the earlier write',
  },
];

function races(key: string, late: readonly Difference[]): Scenario[] {
  const scenario = (first: Who, differs: readonly Difference[]): Scenario => ({
    name: `of two parallel writes of ${key} the last stays if it is appended ${first === 'late' ? 'first' : 'last'}`,
    run: (stage) => race(stage, key, first),
    shows: { order: first === 'late' ? ['late', 'early'] : ['early', 'late'], handle: 'late' },
    differs,
  });
  return [scenario('early', []), scenario('late', late)];
}

const answers: Scenario = {
  name: 'of two parallel answers under one outputKey the one that came last stays',
  async run(stage) {
    const { LlmAgent, ParallelAgent } = stage.adk;
    await stage.create();
    const done = gate();
    const quick = new LlmAgent({
      name: 'quick',
      model: stage.model('quick'),
      outputKey: 'answer',
      afterAgentCallback: () => {
        done.open();
        return undefined;
      },
    });
    const slow = new LlmAgent({
      name: 'slow',
      model: stage.model(() => done.opened.then(() => 'slow')),
      outputKey: 'answer',
    });
    const events = await stage.turn(new ParallelAgent({ name: 'both', subAgents: [slow, quick] }));
    return events.map(({ author, branch }) => [author, branch]);
  },
  shows: [
    ['quick', 'both.quick'],
    ['slow', 'both.slow'],
  ],
};

export const parallelAgents: readonly Scenario[] = [
  ...races('k', [superseded(2, 'k', 'early')]),
  ...races('user:k', rolledBack('user:k')),
  ...races('app:k', rolledBack('app:k')),
  ...races('temp:k', []),
  answers,
];
