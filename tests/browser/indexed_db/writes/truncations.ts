// Appends that first remove the end of a history.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import {
  TRUNCATIONS,
  event,
  events,
  REPLACE,
  replace,
} from '../../../js/service/verbs/truncations.js';
import { type Context, inTab, newName } from '../context.js';
import { replaceEnd } from '../../../../js/service/replace_end.js';
import { around } from '../page/around.js';
import { type Failure, failure, idsOf } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { replaceAnEnd, loseReplacement };
type Page = typeof inPage;

export function truncations(context: Context): void {
  for (const test of Object.keys(TRUNCATIONS)) {
    it(`replaced end of a history: ${test}`, async () => {
      await inTab<Page>(context, (tab) => tab.call('replaceAnEnd', newName(), test));
    });
  }

  it('a replacement whose answer was lost is not repeated, and removes nothing of others', async () => {
    await inTab<Page>(context, async (tab) => {
      const { failed, stored } = await tab.call('loseReplacement', newName());
      assert.equal(failed.code, 'connection_lost');
      assert.deepEqual(stored, ['new0', 'new1', 'theirs']);
    });
  });
}

REPLACE.end = replaceEnd;

/** Runs one of the tests in a new database. */
async function replaceAnEnd(name: string, test: string): Promise<void> {
  const service = new IndexedDbSessionService({ name });
  try {
    await TRUNCATIONS[test]?.(service);
  } finally {
    await service.close();
  }
}

/** Loses the answer of a replacement. Another service appends before the call knows. */
async function loseReplacement(name: string): Promise<{ failed: Failure; stored: string[] }> {
  const service = new IndexedDbSessionService({ name });
  const other = new IndexedDbSessionService({ name });
  const key = { appName: 'cuts', userId: 'ada', sessionId: 'one' };
  const session = await service.createSession(key);
  const after = service.revisionOf(session)!;
  await service.appendEvents({ session, events: events('old', 3) });
  const append = async (): Promise<unknown> =>
    other.appendEvent({ session: (await other.getSession(key))!, event: event('theirs') });
  const stop = around(IDBTransaction.prototype, 'commit', (transaction, values, proceed) => {
    stop();
    transaction.oncomplete = () => {
      void append().finally(() => transaction.dispatchEvent(new Event('abort')));
    };
    return proceed(...values);
  });
  const failed = await failure(() => replace(service, 'one', { after, events: events('new', 2) }));
  const stored = idsOf(await other.getSession(key));
  await service.close();
  await other.close();
  return { failed, stored };
}
