import assert from 'node:assert/strict';

import { APP, KEY, openOver, says, stored, texts, USER } from '../fixture.js';
import { MapStorage } from '../map_storage.js';

type Verb = 'create' | 'append' | 'read' | 'list' | 'delete';

export const VERBS: readonly Verb[] = ['create', 'append', 'read', 'list', 'delete'];

/** A service over a sound storage, with one session; then `spoil` makes the storage unsound. */
export async function faulty(spoil: (storage: MapStorage) => void) {
  const storage = new MapStorage();
  const service = await openOver(storage);
  const session = await service.createSession({ ...KEY, state: { a: 1, 'user:u': 1, 'app:p': 1 } });
  await service.appendEvent({ session, event: { ...says('one'), id: 'e1' } });
  spoil(storage);
  const calls: Record<Verb, () => Promise<unknown>> = {
    create: () => service.createSession({ ...USER, sessionId: 'new', state: { 'user:u': 2 } }),
    append: () => service.appendEvent({ session, event: says('two', { a: 2, 'user:u': 2, 'app:p': 2 }) }), // prettier-ignore
    read: () => service.getSession(KEY),
    list: () => service.listSessions(APP),
    delete: () => service.deleteSession(KEY),
  };
  /** Makes the storage sound again, and makes sure that nothing came of what failed. */
  async function isUnharmed(): Promise<void> {
    // Its own methods again.
    for (const verb of VERBS) Reflect.deleteProperty(storage, verb);
    storage.listsParts = false;
    const found = await stored(service);
    assert.deepEqual(texts(found), ['one']);
    assert.deepEqual(found.state, { a: 1, 'user:u': 1, 'app:p': 1 });
    assert.deepEqual([session.events, session.state], [found.events, found.state]);
    assert.equal((await service.listSessions(APP)).totalItems, 1);
    await service.appendEvent({ session, event: says('after') });
    assert.deepEqual(texts(await stored(service)), ['one', 'after']);
  }
  return { storage, service, session, calls, isUnharmed };
}
