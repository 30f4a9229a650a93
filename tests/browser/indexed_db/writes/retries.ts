import { it } from 'node:test';
import { assertUnchanged } from '../../../js/service/fixture.js';
import { SUPERSEDED } from '../../../js/append/superseded_retries.js';
import { type Context, inTab, newName } from '../context.js';

export function retries(context: Context): void {
  for (const scene of SUPERSEDED) {
    it(`a retry changes nothing if a later write has superseded keys of an event ${scene}`, async () => {
      await inTab(context, async (tab) => {
        assertUnchanged(await tab.call('retry', newName(), scene));
      });
    });
  }
}
