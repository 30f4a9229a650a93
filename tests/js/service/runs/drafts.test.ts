import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, type Event } from '../../../../js/index.js';
import { Drafts } from '../../../../js/service/runs/agent/drafts.js';

const answer = { invocationId: 'i2', author: 'guide' };
const contentOf = (text: string, thought?: boolean) => ({
  role: 'model',
  parts: [{ text, ...(thought && { thought }) }],
});
const partial = (text: string, more: Partial<Event> = {}) =>
  createEvent({ ...answer, partial: true, content: contentOf(text), ...more });
const whole = (id: string, event: Partial<Event> = {}) => createEvent({ ...answer, id, ...event });

const partsOf = ({ all }: Drafts) => all.map(({ event }) => event.content?.parts);

describe('A draft of a run', () => {
  it('grows with the partial events of one author, and keeps its id', () => {
    const drafts = new Drafts();
    drafts.add(partial('hm', { content: contentOf('hm', true) }));
    drafts.add(partial('Green'));
    const [first] = drafts.all;
    drafts.add(partial(' tea'));
    drafts.add(partial('No', { author: 'clerk' }));
    drafts.add(partial('Yes', { branch: 'b' }));
    assert.equal(drafts.all[0]?.event.id, first?.event.id);
    assert.deepEqual(partsOf(drafts), [
      [{ text: 'hm', thought: true }, { text: 'Green tea' }],
      [{ text: 'No' }],
      [{ text: 'Yes' }],
    ]);
    assert.deepEqual(first?.event.content?.parts?.at(-1), { text: 'Green' }, 'it is not changed');
  });

  const endings = {
    'the whole answer': { content: contentOf('Green tea') },
    'the call of a tool': { content: { parts: [{ functionCall: { name: 'cups' } }] } },
    'an event without parts': {},
    'an event with a part that is null': { content: { parts: [null] } },
    'an interruption': { interrupted: true },
    'the end of a turn': { turnComplete: true },
  };
  for (const [what, event] of Object.entries(endings)) {
    it(`ends with ${what}, and the next partial event begins another one`, () => {
      const drafts = new Drafts();
      drafts.add(partial('Green'));
      drafts.end(whole('e2', event as Partial<Event>));
      drafts.add(partial('Black'));
      assert.deepEqual(
        drafts.all.map(({ endedBy }) => endedBy),
        ['e2', undefined],
      );
    });
  }

  const others = {
    'an error': { errorCode: 'SAFETY' },
    'the state that a callback changes': { actions: { stateDelta: { visits: 1 } } },
    'the response of a tool': {
      content: { role: 'user', parts: [{ functionResponse: { name: 'cups', response: {} } }] },
    },
    'the answer of another agent': { author: 'clerk', content: contentOf('No') },
  };
  for (const [what, event] of Object.entries(others)) {
    it(`stays with ${what}`, () => {
      const drafts = new Drafts();
      drafts.add(partial('Green'));
      drafts.end(whole('e2', event as Partial<Event>));
      drafts.add(partial(' tea'));
      assert.deepEqual(partsOf(drafts), [[{ text: 'Green tea' }]]);
    });
  }

  it('joins the halves of an emoji between two partial events', () => {
    const drafts = new Drafts();
    const shown: unknown[] = [];
    const [former, latter] = ['🍵'.charAt(0), '🍵'.charAt(1)];
    for (const text of [`tea ${former}`, '', `${latter}!${former}`, `${former}${latter}`, latter]) {
      drafts.add(partial(text));
      shown.push(partsOf(drafts)[0]?.[0]?.text);
    }
    assert.deepEqual(shown, [
      `tea ${former}`,
      `tea ${former}`,
      `tea 🍵!${former}`,
      `tea 🍵!${former}🍵`,
      `tea 🍵!${former}🍵${latter}`,
    ]);
  });

  it('does not join halves of a thought and of the answer', () => {
    const drafts = new Drafts();
    const [former, latter] = ['🍵'.charAt(0), '🍵'.charAt(1)];
    drafts.add(partial('', { content: contentOf(former, true) }));
    drafts.add(partial(latter));
    const texts = partsOf(drafts)[0]?.map(({ text }) => text);
    assert.deepEqual(texts, [former, latter]);
  });
});
