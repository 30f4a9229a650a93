import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName, type PageTab } from '../context.js';
import { assertWhole } from './whole.js';

/** Acknowledgements after which the page ends: at the beginning, and when pages have been sealed. */
const ENDS = [3, 150];

const WAYS: [name: string, end: (tab: PageTab, elsewhere: string) => Promise<void>][] = [
  ['navigated away', (tab, elsewhere) => tab.open(elsewhere)],
  ['closed', (tab) => tab.close()],
];

export function bursts(context: Context): void {
  for (const [name, end] of WAYS) {
    it(`a page that is ${name} during many appends loses no acknowledged event`, async () => {
      const options = { name: newName() };
      const { acknowledged, elsewhere } = context.site;
      const told: string[] = [];
      for (const count of ENDS) {
        await inTab(context, async (tab) => {
          await tab.start('burst', options, `run ${count}`);
          await acknowledged.atLeast(count);
          await end(tab, elsewhere);
        });
        told.push(...acknowledged.take());
        await inTab(context, async (tab) => {
          assertWhole(await tab.call('readStored', options), told);
        });
      }
      assert.ok(told.length >= Math.max(...ENDS));
    });
  }
}
