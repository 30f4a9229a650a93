import assert from 'node:assert/strict';
import { before, describe, it, mock } from 'node:test';

import { AGENTS } from './agents.js';
import { COMPACTORS, WITHOUT_COMPACTOR } from './compactors.js';
import {
  distinctTimes,
  lastRequests,
  type Step,
  textsOf,
  withoutRandomIds,
} from './conversation.js';

const say = (...names: string[]): Step[] => names.map((name) => ({ say: name }));

const FIRST = ['plain 1', 'special 2', 'plain 3', 'plain 4'];
const LAST = 'plain 8';

/** The compactors compact in the turns 3 and 4, and in special ones. */
const HISTORIES: Readonly<Record<string, readonly [steps: Step[], live: Step[]]>> = {
  'the turn that compacted was undone': [
    [...say(...FIRST, 'special 5'), { rewind: 'special 5' }, ...say(LAST)],
    say(...FIRST, LAST),
  ],
  'a turn after the compaction was undone': [
    [...say(...FIRST, 'special 5', 'plain 6'), { rewind: 'plain 6' }, ...say(LAST)],
    say(...FIRST, 'special 5', LAST),
  ],
  'turns that were compacted were undone': [
    [...say(...FIRST, 'special 5'), { rewind: 'special 2' }, ...say('special 6', LAST)],
    say('plain 1', 'special 6', LAST),
  ],
  'a compacted branch is back': [
    [
      ...say(...FIRST),
      { rewind: 'special 2' },
      ...say('special 5', 'plain 6'),
      { switch: 'special 2' },
      ...say(LAST),
    ],
    say(...FIRST, LAST),
  ],
};

type Requests = Awaited<ReturnType<typeof lastRequests>>;

const withoutThoughts = (requests: Requests): Requests =>
  requests.map((contents) =>
    contents.map(({ role, parts = [] }) => ({
      role: role ?? '',
      parts: parts.filter(({ thought }) => thought !== true),
    })),
  );

const requestsOf = async (...conversation: Parameters<typeof lastRequests>) =>
  withoutRandomIds(await lastRequests(...conversation));

describe('The requests to models of an agent with', () => {
  before(() => void mock.method(Date, 'now', distinctTimes()));

  for (const [compactor, make] of Object.entries(COMPACTORS)) {
    it(`${compactor} differ from those without it`, async () => {
      const live = say(...FIRST, 'special 5', LAST);
      assert.notDeepEqual(await requestsOf(make, live), await requestsOf(WITHOUT_COMPACTOR, live));
    });

    for (const [history, [steps, live]] of Object.entries(HISTORIES)) {
      it(`${compactor}, where ${history}, are those of a session without the undone turns`, async () => {
        // The framework removes thoughts from stored events, and no rewind brings back what was overwritten.
        const isPruned = compactor === 'TrajectoryThoughtPruningCompactor';
        const shown = isPruned ? withoutThoughts : (requests: Requests) => requests;
        const requests = shown(await lastRequests(make, steps));
        const expected = shown(await lastRequests(make, live));
        assert.deepEqual(withoutRandomIds(requests), withoutRandomIds(expected));
      });
    }
  }
});

describe('The requests to models after a compaction of Python', () => {
  before(() => void mock.method(Date, 'now', distinctTimes()));

  const [one, two, three, four] = ['plain 1', 'special 2', 'special 3', 'plain 4'];
  const compact = { compact: [one, two] } as const;
  const summary = { text: `SUM ${one}-${two}` };
  const isMessage = (text: string) => (content: object) =>
    JSON.stringify(content) === JSON.stringify({ role: 'user', parts: [{ text }] });

  for (const [agent, make] of Object.entries(AGENTS)) {
    if (agent === 'an agent behind A2A') continue;
    it(`of ${agent}, have the summary in place of what it sums up`, async () => {
      const plain = await lastRequests(make, say(one, two, three, four));
      const compacted = await lastRequests(make, [...say(one, two), compact, ...say(three, four)]);
      assert.equal(compacted.length, plain.length);
      for (const [at, contents] of plain.entries()) {
        const [first, ...rest] = compacted[at]!;
        // A turn that waits for a confirmation is not summed up.
        const next = agent === 'an agent whose tool asks for confirmation' ? two : three;
        const shown = contents.slice(contents.findIndex(isMessage(next)));
        assert.deepEqual(withoutRandomIds([rest]), withoutRandomIds([shown]));
        const asOwn = { role: 'model', parts: [summary] };
        const said = /^\[\w+\] said: /.exec(first?.parts?.[1]?.text ?? '')?.[0] ?? '';
        const asOther = {
          role: 'user',
          parts: [{ text: 'For context:' }, { text: said + summary.text }],
        };
        assert.deepEqual(first, said === '' ? asOwn : asOther);
      }
    });

    it(`of ${agent}, are those of before if the compaction was undone`, async () => {
      const steps = [...say(one, two, three), { compact: [one, two] } as const];
      // The compaction belongs to no turn: what undoes the turn before it undoes it, too.
      const undone = [...steps, { rewind: three }, ...say(four)];
      assert.deepEqual(await requestsOf(make, undone), await requestsOf(make, say(one, two, four)));
    });
  }

  it('of an agent behind A2A, continue its context, and tell what is new', async () => {
    const make = AGENTS['an agent behind A2A']!;
    const steps = [...say(one, two), compact, ...say(three)];
    assert.deepEqual(await requestsOf(make, steps), await requestsOf(make, say(one, two, three)));
  });

  it('are the same but for the thoughts if the framework prunes these', async () => {
    const steps = [...say(one, two), compact, ...say(three, four, 'plain 5')];
    const pruned = await lastRequests(COMPACTORS.TrajectoryThoughtPruningCompactor!, steps);
    const plain = await lastRequests(WITHOUT_COMPACTOR, steps);
    assert.ok(JSON.stringify(plain).includes(summary.text));
    assert.deepEqual(
      withoutRandomIds(withoutThoughts(pruned)),
      withoutRandomIds(withoutThoughts(plain)),
    );
  });

  it('are compacted again by the framework, which reads the summary as a message', async () => {
    const make = COMPACTORS.TokenBasedContextCompactor!;
    const steps = [...say(one), { compact: [one, one] } as const, ...say('plain 3', 'plain 5')];
    const [texts] = textsOf(await lastRequests(make, steps));
    assert.deepEqual(texts, [
      'user: [Previous Context Summary]:\nSUM(SUM plain 1-plain 1)',
      'user: plain 3',
      'model: thought of plain 3 | answer to plain 3.',
      'user: plain 5',
    ]);
  });
});
