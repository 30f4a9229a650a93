import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, newName, tabOfGroup } from '../context.js';
import type { Row } from '../page/bare.js';

const DAMAGES: [how: string, change: Row | null][] = [
  ['is lost', null],
  ['has no next number', { next: null }],
  ['has a next number that is a text', { next: '7' }],
  ['has a next number that is too large', { next: 1e300 }],
  ['has no floor', { floor: 'none' }],
];

export function sequence(context: Context): void {
  const page = tabOfGroup(context);
  for (const [how, change] of DAMAGES) {
    it(`sessions stay readable, but cannot be created or deleted, if the sequence ${how}`, async () => {
      const { failed, events, meta } = await page.tab.call('damageSequence', newName(), change);
      for (const { code, record } of Object.values(failed)) {
        assert.equal(code, 'corrupt_record');
        assert.match(record ?? '', /sequence/);
      }
      assert.deepEqual(events, ['one', 'two']);
      assert.equal(meta.length, change === null ? 0 : 1, 'no new one is begun');
    });
  }

  for (const hasEvents of [true, false]) {
    it(`the number of a session with${hasEvents ? '' : 'out'} events is never reused`, async () => {
      const { numbers, ada, bob } = await page.tab.call('giveNumberAgain', newName(), hasEvents);
      assert.notEqual(numbers[0], numbers[1]);
      assert.deepEqual(ada, hasEvents ? ['secret'] : []);
      assert.deepEqual(bob, ['other']);
    });
  }

  it('a database with states and without sessions needs no sequence', async () => {
    assert.deepEqual(await page.tab.call('beginWithState', newName()), ['app:a']);
  });
}
