// Rows that a verb must not read.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';

const USER = { appName: 'app', userId: 'user' };
const KEY = { ...USER, sessionId: 'session' };

it('listChanges has what is new after a burst of 3,000 events, and few of the events before', async () => {
  const service = new DatabaseSessionService('sqlite::memory:');
  const session = await service.createSession(KEY);
  const events = Array.from({ length: 3000 }, (_, n) => ({ id: `e${n}`, invocationId: 'i' }));
  await service.appendEvents({ session, events });
  const since = service.revisionOf(session)!;
  await service.appendEvent({ session, event: { id: 'new', invocationId: 'i' } });
  const changes = await service.listChanges({ ...KEY, since });
  assert.equal(changes.events?.at(-1)?.event.id, 'new');
  assert.ok(changes.events.length <= 101, `${changes.events.length} events`);
  assert.equal((await service.listChanges({ ...KEY, since: since - 2000 })).events, undefined);
  await service.close();
});
