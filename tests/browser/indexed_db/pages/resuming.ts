import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';

export function resuming(context: Context): void {
  for (const [what, order] of [
    ['one service after the other', 'aaaabbbb'],
    ['two services in turn', 'abababab'],
    ['one service alone', 'aaaaaaaa'],
  ] as const) {
    it(`appends of ${what} lose nothing, whatever the previous one did`, async () => {
      await inTab(context, async (tab) => {
        const { events, state, aborted } = await tab.call('takeTurns', newName(), order);
        const ids = [...order].map((turn, place) => `${turn}${place}`);
        assert.deepEqual(events, ids);
        const keys = ['begin', ...ids].flatMap((id) => [id, `user:${id}`, `app:${id}`]);
        assert.deepEqual(Object.keys(state).sort(), keys.sort());
        assert.equal(aborted, 0, 'no transaction was aborted');
      });
    });
  }

  it('an append reads changes made by hand since the previous append', async () => {
    await inTab(context, async (tab) => {
      const { events, state, aborted } = await tab.call('changeByHand', newName());
      assert.deepEqual(events, ['first', 'second']);
      assert.deepEqual(state, { begin: 0, 'user:b': 2, 'user:c': 3, 'app:b': 2 });
      assert.equal(aborted, 0, 'no transaction was aborted');
    });
  });
}
