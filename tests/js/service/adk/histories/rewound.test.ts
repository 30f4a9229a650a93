import assert from 'node:assert/strict';
import { before, describe, it, mock } from 'node:test';

import { AGENTS, confirm } from './agents.js';
import { distinctTimes, lastRequests, type Step, withoutRandomIds } from './conversation.js';

const [one, two, three, four] = ['plain 1', 'special 2', 'special 3', 'plain 4'];
const say = (...names: string[]): Step[] => names.map((name) => ({ say: name }));

/** What is done, and the turns that a session has had that never knew of the others. */
const HISTORIES: Readonly<Record<string, readonly [steps: Step[], live: Step[]]>> = {
  'a turn was undone': [[...say(one, two), { rewind: two }, ...say(four)], say(one, four)],
  'all turns were undone': [[...say(two, one), { rewind: two }, ...say(three)], say(three)],
  'several turns were undone, one after the other': [
    [...say(one, two, three), { rewind: three }, { rewind: two }, ...say(four)],
    say(one, four),
  ],
  'a special turn stays before an undone one': [
    [...say(two, three), { rewind: three }, ...say(four)],
    say(two, four),
  ],
  'the first branch is back': [
    [...say(one, two), { rewind: two }, ...say(three), { switch: two }, ...say(four)],
    say(one, two, four),
  ],
  'a branch was left again': [
    [
      ...say(one, two),
      { rewind: two },
      ...say(three),
      { switch: two },
      { switch: three },
      ...say(four),
    ],
    say(one, three, four),
  ],
};

describe('The requests to models after a rewind', () => {
  before(() => void mock.method(Date, 'now', distinctTimes()));

  for (const [agent, make] of Object.entries(AGENTS)) {
    for (const [history, [steps, live]] of Object.entries(HISTORIES)) {
      it(`of ${agent}, where ${history}, are those of a session without the undone turns`, async () => {
        const requests = withoutRandomIds(await lastRequests(make, steps));
        assert.deepEqual(requests, withoutRandomIds(await lastRequests(make, live)));
        assert.notDeepEqual(requests, []);
      });
    }
  }

  it('of an agent whose tool was confirmed, are those of one that was not', async () => {
    const make = AGENTS['an agent whose tool asks for confirmation']!;
    const ask = say(one, two);
    const yes = { say: 'yes', message: confirm(true) };
    const no = { say: 'no', message: confirm(false) };
    const undone = await lastRequests(make, [...ask, yes, { rewind: 'yes' }, no, ...say(four)]);
    const plain = await lastRequests(make, [...ask, no, ...say(four)]);
    assert.deepEqual(withoutRandomIds(undone), withoutRandomIds(plain));
    assert.notDeepEqual(
      withoutRandomIds(undone),
      withoutRandomIds(await lastRequests(make, [...ask, yes, ...say(four)])),
    );
    const back = [...ask, yes, { rewind: 'yes' }, no, { switch: 'yes' }, ...say(four)];
    assert.deepEqual(
      withoutRandomIds(await lastRequests(make, back)),
      withoutRandomIds(await lastRequests(make, [...ask, yes, ...say(four)])),
    );
  });
});
