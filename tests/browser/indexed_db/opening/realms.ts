import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';
import type { Realm } from '../page/opening/realms.js';

const SCOPES: Record<Realm, string> = {
  page: 'Window',
  'dedicated worker': 'DedicatedWorkerGlobalScope',
  'shared worker': 'SharedWorkerGlobalScope',
  'service worker': 'ServiceWorkerGlobalScope',
};

export function realms(context: Context): void {
  for (const [realm, scope] of Object.entries(SCOPES) as [Realm, string][]) {
    it(`IndexedDB works in a ${realm}, and a page is notified`, async () => {
      await inTab(context, async (tab) => {
        const seen = await tab.call('workIn', realm, newName());
        const events = ['1', '2', '3'].map((number) => `of a ${realm} ${number}`);
        assert.equal(seen.scope, scope);
        assert.deepEqual([seen.storage.kind, seen.storage.durable], ['indexeddb', true]);
        assert.deepEqual(seen.events, events);
        assert.deepEqual(seen.read, events);
        assert.equal(seen.yielded, seen.revision);
      });
    });
  }
}
