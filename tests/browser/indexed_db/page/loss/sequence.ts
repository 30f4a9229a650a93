// The record that session numbers and revisions are counted by, lost or changed by hand.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { answer, putRows, type Row, rows, withDatabase } from '../bare.js';
import { APP, type Failure, failure, idsOf, keyOf, mark } from '../events.js';

const BOB = { appName: APP, userId: 'bob', sessionId: 'his' };

export interface WithoutSequence {
  failed: { create: Failure; delete: Failure; deleteState: Failure };
  /** The outcome of other reads and appends. */
  events: string[];
  /** Records of `meta` afterwards. */
  meta: Row[];
}

/** Changes the sequence, and reports which calls still work. Without a change, the sequence is deleted. */
export async function damageSequence(name: string, change: Row | null): Promise<WithoutSequence> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('first'));
  await service.appendEvent({ session, event: mark('one') });
  await changeSequence(name, change);
  const failed = {
    create: await failure(() => service.createSession(BOB)),
    delete: await failure(() => service.deleteSession(keyOf('first'))),
    deleteState: await failure(() => service.deleteUserState({ appName: APP, userId: 'ada' })),
  };
  await service.appendEvent({ session, event: mark('two') });
  const events = idsOf(await service.getSession(keyOf('first')));
  await service.close();
  return { failed, events, meta: await rows(name, 'meta') };
}

async function changeSequence(name: string, change: Row | null): Promise<void> {
  const [sequence] = await rows(name, 'meta');
  if (sequence === undefined) throw new Error('there is no sequence');
  if (change !== null) return putRows(name, 'meta', [{ ...sequence, ...change }]);
  await withDatabase(name, (database) =>
    answer(
      database
        .transaction('meta', 'readwrite')
        .objectStore('meta')
        .delete(sequence.key as string),
    ),
  );
}

/** Puts the next number back to that of the first session, which may have events, and creates one of another user. */
export async function giveNumberAgain(
  name: string,
  hasEvents: boolean,
): Promise<{ numbers: number[]; ada: string[]; bob: string[] }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('hers'));
  if (hasEvents) await service.appendEvent({ session, event: mark('secret') });
  const [{ number } = {}] = await rows(name, 'sessions');
  await changeSequence(name, { next: number });
  const his = await service.createSession(BOB);
  await service.appendEvent({ session: his, event: mark('other') });
  const [ada, bob] = await Promise.all([keyOf('hers'), BOB].map((key) => service.getSession(key)));
  await service.close();
  const numbers = (await rows(name, 'sessions')).map(({ number }) => number as number);
  return { numbers, ada: idsOf(ada), bob: idsOf(bob) };
}

/** A database that has states and no session yet has no sequence either. */
export async function beginWithState(name: string): Promise<string[]> {
  const service = new IndexedDbSessionService({ name });
  await service.updateState({ appName: APP, stateDelta: { 'app:a': 1 } });
  await service.updateState({ appName: APP, userId: 'ada', stateDelta: { 'user:b': 1 } });
  await service.deleteUserState({ appName: APP, userId: 'ada' });
  const session = await service.createSession(keyOf('first'));
  await service.deleteSession(keyOf('first'));
  await service.createSession(keyOf('first'));
  await service.close();
  return Object.keys(session.state);
}
