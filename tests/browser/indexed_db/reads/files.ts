import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';

export function files(context: Context): void {
  it('a file of sealed pages survives import and export, with a state that no delta explains', async () => {
    const events = Array.from({ length: 300 }, (_, at) => ({
      id: `e${at}`,
      timestamp: 1.7e12 + at + 0.125,
      my_field: { event: at },
      actions: { stateDelta: at % 2 === 0 ? { count: at, gone: at } : {} },
    }));
    const file = {
      id: 'one',
      appName: 'shop',
      userId: 'ada',
      state: { count: 'by hand', first: 1, 'user:name': 'Ada', 'app:motd': 'hi' },
      events,
      lastUpdateTime: 1.7e12 + 400,
    };
    await inTab(context, async (tab) => {
      const { exported, outcomes } = await tab.call('restore', newName(), file);
      assert.deepEqual(exported, [file, file]);
      // The app's state, the user's, and the session.
      assert.equal(outcomes, 3);
    });
  });
}
