// Appends that first remove the end of a history.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { replaceEnd } from '../../../../../js/service/replace_end.js';
import {
  event,
  events,
  REPLACE,
  replace,
  TRUNCATIONS,
} from '../../../../js/service/verbs/truncations.js';
import { around } from '../around.js';
import { type Failure, failure, idsOf } from '../events.js';

REPLACE.end = replaceEnd;

/** Runs one of the tests in a new database. */
export async function replaceAnEnd(name: string, test: string): Promise<void> {
  const service = new IndexedDbSessionService({ name });
  try {
    await TRUNCATIONS[test]?.(service);
  } finally {
    await service.close();
  }
}

/** Loses the answer of a replacement. Another service appends before the call knows. */
export async function loseReplacement(
  name: string,
): Promise<{ failed: Failure; stored: string[] }> {
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
