import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';

const GROUP = 9;

export function atomicity(context: Context): void {
  for (const [what, size] of [
    ['of few events', 8],
    ['that fills pages', 300],
  ] as const) {
    it(`a batch ${what} that violates a constraint halfway changes no store`, async () => {
      await inTab(context, async (tab) => {
        const result = await tab.call('failInBatch', newName(), size);
        assert.ok(result.strikes.length > 0, 'the browser aborted a transaction');
        assert.equal(result.failed.code, 'corrupt_record');
        assert.equal(result.database[1], result.database[0]);
        assert.equal(result.handle[1], result.handle[0]);
        assert.deepEqual(result.events, result.wanted, 'the same batch goes through afterwards');
      });
    });
  }

  it('an append that violates a constraint within a group fails alone', async () => {
    await inTab(context, async (tab) => {
      const { strikes, codes, events, scopes, handles } = await tab.call(
        'failInGroup',
        newName(),
        GROUP,
      );
      assert.ok(
        strikes.some(({ sessions }) => sessions > 1),
        `a transaction of several appends was aborted: ${JSON.stringify(strikes)}`,
      );
      const failing = Math.floor(GROUP / 2);
      for (const [place, code] of codes.entries()) {
        const fails = place === failing;
        assert.equal(code, fails ? 'corrupt_record' : null);
        assert.equal(events[place]!.length, fails ? 0 : 1);
        assert.equal(handles[place]!.length, fails ? 0 : 1);
        assert.deepEqual(scopes[place], fails ? [false, false, false] : [true, true, true]);
      }
    });
  });
}
