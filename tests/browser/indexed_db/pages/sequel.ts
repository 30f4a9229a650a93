import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, newName, tabOfGroup } from '../context.js';
import type { End } from '../page/pages/sequel.js';

/** The outcome of an append that ends in this way. */
const OUTCOMES: Record<End, string> = {
  stored: 'stored',
  violating: 'corrupt_record',
  unanswered: 'connection_lost',
  broken: 'connection_lost',
};

const WORDS: Record<End, string> = {
  stored: 'is stored',
  violating: 'violates a constraint',
  unanswered: 'is never answered',
  broken: 'loses its connection',
};

const ENDS = Object.keys(OUTCOMES) as End[];

export function sequel(context: Context): void {
  const page = tabOfGroup(context);
  for (const earlier of ENDS) {
    for (const later of ENDS) {
      it(`an append that ${WORDS[later]} is reported so after one that ${WORDS[earlier]}`, async () => {
        const ends: End[] = ['stored', earlier, later, 'stored'];
        const { outcomes, events } = await page.tab.call('appendInTurn', newName(), ends);
        assert.deepEqual(
          outcomes,
          ends.map((end) => OUTCOMES[end]),
        );
        const ids = ends.map((end, place) => `${place} ${end}`);
        const stored = ids.filter((_, place) => ends[place] === 'stored');
        assert.deepEqual(events, stored);
      });
    }
  }

  for (const end of ENDS) {
    it(`an append that ${WORDS[end]} is reported so after a write of another service`, async () => {
      const { outcomes, events } = await page.tab.call('mistakeThenEnd', newName(), end);
      assert.deepEqual(outcomes, ['stored', OUTCOMES[end], 'stored']);
      const own = end === 'stored' ? ['two'] : [];
      assert.deepEqual(events, ['one', 'other', ...own, 'three']);
    });
  }

  it('an append is stored once by its second transaction, despite late events of the first', async () => {
    const { outcomes, events } = await page.tab.call('giveUpOnce', newName());
    assert.deepEqual(outcomes, ['stored']);
    assert.deepEqual(events, ['one']);
  });

  it('the timer of a stored append does not end the next one', async () => {
    const { outcomes, events, aborted } = await page.tab.call('goOffEarly', newName());
    assert.deepEqual(outcomes, ['stored', 'stored']);
    assert.equal(aborted, 0, 'it is not even tried again');
    assert.deepEqual(events, ['one', 'two']);
  });

  it("an append has its own timer after the previous one's has fired", async () => {
    const { outcomes, events } = await page.tab.call('runOutBetween', newName());
    assert.deepEqual(outcomes, ['stored', 'connection_lost']);
    assert.deepEqual(events, ['one']);
  });
}
