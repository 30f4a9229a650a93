// Places in which IndexedDB may not work.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, openSessionService, type StorageInfo } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { failure, idsOf, keyOf, mark } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { openAuto, openExplicitly };
type Page = typeof inPage;

export function fallback(context: Context): void {
  for (const [how, what] of [
    ['missing', 'is missing'],
    ['forbidden', 'throws when it is looked at'],
    ['closed', 'throws when it is opened'],
  ] as const) {
    it(`'auto' falls back to memory and says why if IndexedDB ${what}`, async () => {
      const url = `${context.site.origin}/without?how=${how}`;
      await inTab<Page>(context, async (tab) => assertMemory(await tab.call('openAuto')), url);
    });

    it(`'indexeddb' is refused as unavailable if IndexedDB ${what}`, async () => {
      const url = `${context.site.origin}/without?how=${how}`;
      await inTab<Page>(
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
      await inTab<Page>(context, async (tab) =>
        assertDurable(await tab.call('openAuto', name), events),
      );
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

interface OpenResult {
  storage: StorageInfo;
  events: string[];
}

/** Opens whatever works, and appends one more event to the session in it. */
async function openAuto(name = 'auto'): Promise<OpenResult> {
  const service = await openSessionService({ storage: 'auto', name });
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark(`event-${session.events.length}`) });
  const events = idsOf(await service.getSession(keyOf('one')));
  const { storage } = service;
  await service.close();
  return { storage, events };
}

/** The codes with which an explicit choice of IndexedDB fails: opened, and constructed. */
async function openExplicitly(name = 'explicit'): Promise<string[]> {
  const opened = await failure(async () => {
    const service = await openSessionService({ storage: 'indexeddb', name });
    await service.createSession(keyOf('one'));
  });
  const service = new IndexedDbSessionService({ name });
  const constructed = await failure(() => service.createSession(keyOf('one')));
  await service.close();
  return [opened.code, constructed.code];
}
