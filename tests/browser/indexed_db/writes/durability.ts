// The durability that a service asks the browser for.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { around } from '../page/around.js';
import { keyOf, mark } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { askedDurabilities };
type Page = typeof inPage;

export function durability(context: Context): void {
  for (const given of ['strict', 'relaxed'] as const) {
    it(`each transaction that writes asks for the durability ${given}`, async () => {
      await inTab<Page>(context, async (tab) => {
        const asked = await tab.call('askedDurabilities', newName(), given);
        assert.ok(asked.length >= 2, 'a creation and an append');
        assert.deepEqual([...new Set(asked)], [given]);
      });
    });
  }
}

async function askedDurabilities(
  name: string,
  durability: 'strict' | 'relaxed',
): Promise<unknown[]> {
  const service = new IndexedDbSessionService({ name, durability });
  const asked: unknown[] = [];
  const stop = around(IDBDatabase.prototype, 'transaction', (database, values, proceed) => {
    const [stores, mode, options] = values;
    // The note of a new database, in its store `meta` alone, is always strict.
    const writesSessions = mode === 'readwrite' && (stores as string[]).includes('sessions');
    const isOwn = database.name === name && writesSessions;
    if (isOwn) asked.push((options as IDBTransactionOptions).durability);
    return proceed(...values);
  });
  try {
    const session = await service.createSession(keyOf('one'));
    await service.appendEvent({ session, event: mark('e1') });
  } finally {
    stop();
    await service.close();
  }
  return asked;
}
