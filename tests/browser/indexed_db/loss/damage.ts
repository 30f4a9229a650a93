import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';

export function damage(context: Context): void {
  for (const [where, what] of [
    ['single', 'a record of its own'],
    ['page', 'a sealed page'],
  ] as const) {
    it(`a damaged event in ${what} is named, and everything else stays readable`, async () => {
      await inTab(context, async (tab) => {
        const result = await tab.call('damageEvent', newName(), where);
        const { failed, id, all, others, appended } = result;
        assert.equal(result.size > 1, where === 'page');
        assert.equal(failed.code, 'corrupt_record');
        assert.ok(failed.record?.includes(id), `${failed.record} names ${id}`);
        const rest = all.filter((other) => other !== id);
        assert.deepEqual(others, rest);
        assert.deepEqual(result.latest, all.slice(-1), 'a window without it is read');
        assert.deepEqual(appended.slice(0, -1), rest, 'the session goes on');
        assert.deepEqual(result.healthy, ['well']);
        assert.deepEqual(result.listed, ['damaged', 'healthy']);
      });
    });
  }

  it('a session with the number of another one is refused, and harms nothing of the other', async () => {
    await inTab(context, async (tab) => {
      const { failed, others } = await tab.call('takeNumber', newName());
      for (const { code, record } of Object.values(failed)) {
        assert.equal(code, 'corrupt_record');
        assert.match(record ?? '', /session "damaged"/);
      }
      assert.deepEqual(others, [['secret'], ['secret']]);
    });
  });
}
