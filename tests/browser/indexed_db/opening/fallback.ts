import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';
import type { OpenResult } from '../page/opening/fallback.js';

export function fallback(context: Context): void {
  for (const [how, what] of [
    ['missing', 'is missing'],
    ['forbidden', 'throws when it is looked at'],
    ['closed', 'throws when it is opened'],
  ] as const) {
    it(`'auto' falls back to memory and says why if IndexedDB ${what}`, async () => {
      const url = `${context.site.origin}/without?how=${how}`;
      await inTab(context, async (tab) => assertMemory(await tab.call('openAuto')), url);
    });

    it(`'indexeddb' is refused as unavailable if IndexedDB ${what}`, async () => {
      const url = `${context.site.origin}/without?how=${how}`;
      await inTab(
        context,
        async (tab) => {
          const codes = await tab.call('openExplicitly');
          assert.deepEqual(codes, ['storage_unavailable', 'storage_unavailable']);
        },
        url,
      );
    });
  }

  it("'auto' falls back to memory in a frame without an origin", async () => {
    const url = `${context.site.origin}/sandboxed?scenario=openAuto`;
    assertMemory(await context.browser.value<OpenResult>(url));
  });

  it("'auto' uses IndexedDB if it works", async () => {
    const name = newName();
    for (const events of [['event-0'], ['event-0', 'event-1']]) {
      await inTab(context, async (tab) => assertDurable(await tab.call('openAuto', name), events));
    }
  });
}

function assertMemory({ storage, events }: OpenResult): void {
  assert.equal(storage.kind, 'memory');
  assert.equal(storage.durable, false);
  assert.match(storage.reason ?? '', /\w+/, 'it says why');
  assert.deepEqual(events, ['event-0']);
}

export function assertDurable({ storage, events }: OpenResult, wanted: string[]): void {
  assert.equal(storage.kind, 'indexeddb');
  assert.equal(storage.durable, true);
  assert.deepEqual(events, wanted);
}
