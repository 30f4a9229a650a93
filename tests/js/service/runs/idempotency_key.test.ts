import assert from 'node:assert/strict';
import { it } from 'node:test';

import { mapStorage } from '../../../../examples/map_storage.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import {
  createEvent,
  isSessionError,
  openSessionService,
  type SessionService,
} from '../../../../js/index.js';
import { abortEvents } from '../../../../js/service/runs/agent/end_events.js';
import { runMarkOf, textOfMark } from '../../../../js/values/model/event/metadata.js';
import { storeMessageOnce } from '../../../../js/service/runs/agent/run_storage.js';
import { KEY, overStorages } from '../fixture.js';

const message = () =>
  createEvent({ id: 'm', invocationId: 'i', author: 'user', content: { parts: [{ text: 'hi' }] } });
const isStored = (error: unknown) => isSessionError(error, 'already_exists');

async function storeOnce(service: SessionService, event = message()) {
  const session = (await service.getSession(KEY))!;
  await storeMessageOnce(service, session, event);
  return session;
}

overStorages('The append of a message with an idempotency key', (open) => {
  it('is made once: a second one fails, even with an equal message', async () => {
    const service = await open();
    await service.createSession(KEY);
    const event = message();
    await storeOnce(service, structuredClone(event));
    await assert.rejects(storeOnce(service, structuredClone(event)), isStored);
    assert.equal((await service.getSession(KEY))?.events.length, 1);
    await service.close();
  });

  it('is made by one of several at once', async () => {
    const service = await open();
    await service.createSession(KEY);
    const event = message();
    const attempts = Array.from({ length: 8 }, () => storeOnce(service, structuredClone(event)));
    const outcomes = await Promise.allSettled(attempts);
    const made = outcomes.filter(({ status }) => status === 'fulfilled');
    assert.equal(made.length, 1);
    await service.close();
  });

  it('tells the mark of a server to those who read the message through the service', async () => {
    const service = await open();
    await service.createSession(KEY);
    const parts = { start: 'a-1', number: 3, began: 1700, hasChannel: true };
    const mark = textOfMark(parts);
    const session = (await service.getSession(KEY))!;
    await storeMessageOnce(service, session, message(), { mark });
    const config = { numRecentEvents: 1, view: 'transcript' } as const;
    const [stored] = (await service.getSession({ ...KEY, config }))!.events;
    assert.deepEqual(runMarkOf(stored!), parts);
    assert.equal(stored!.customMetadata, undefined);
    await service.close();
  });

  it('stores the end events of another run before it, in the same step', async () => {
    const service = await open();
    await service.createSession(KEY);
    const other = await storeOnce(service, { ...message(), id: 'm0', invocationId: 'i0' });
    const session = (await service.getSession(KEY))!;
    const endEvents = abortEvents([], 'i0', 'guide');
    const admitted = { endEvents, expectedRevision: service.revisionOf(session) };
    await assert.rejects(
      storeMessageOnce(service, session, message(), { endEvents, expectedRevision: 1 }),
      (error) => isSessionError(error, 'stale_session'),
    );
    await storeMessageOnce(service, session, message(), admitted);
    const { events } = (await service.getSession(KEY))!;
    assert.deepEqual(
      events.map(({ invocationId, errorCode }) => errorCode ?? invocationId),
      ['i0', 'INVOCATION_ABORTED', 'i'],
    );
    const late = { author: 'guide', invocationId: 'i0', content: { parts: [{ text: 'late' }] } };
    await assert.rejects(
      service.appendEvent({ session: other, event: late }),
      (error) => isSessionError(error, 'stale_session') && error.staleReason === 'cancelled',
    );
    await service.close();
  });

  it('leaves its mark in no handle, read, change or missed event', async () => {
    const service = await open();
    const behind = await service.createSession(KEY);
    const since = service.revisionOf(behind)!;
    const event = { ...message(), customMetadata: { rating: 5 } };
    const session = await storeOnce(service, event);
    const plain = JSON.stringify({ rating: 5 });
    assert.equal(JSON.stringify(event.customMetadata), plain);
    await service.appendEvent({ session: behind, event: { invocationId: 'j', author: 'user' } });
    const events = [
      session.events[0],
      behind.events[0],
      (await service.getSession(KEY))?.events[0],
      (await service.listChanges({ ...KEY, since })).events?.[0]?.event,
      (await service.getEvents({ ...KEY, eventIds: ['m'] })).events[0]?.event,
      (await service.listEvents(KEY)).events[0],
    ];
    for (const read of events) assert.equal(JSON.stringify(read?.customMetadata), plain);
    await service.close();
  });

  it('is not lost when the message is appended again as it was read', async () => {
    const service = await open();
    await service.createSession(KEY);
    const event = createEvent({ ...message(), actions: { stateDelta: { cups: 1 } } });
    const session = await storeOnce(service, structuredClone(event));
    await service.updateState({ ...KEY, stateDelta: { cups: 2 } });
    const before = (await service.getSession(KEY))!;
    await service.appendEvent({ session, event: structuredClone(before.events[0]!) });
    const after = (await service.getSession(KEY))!;
    assert.equal(after.state.cups, 2, 'a retry applies no delta');
    assert.equal(service.revisionOf(after), service.revisionOf(before));
    await service.close();
  });
});

it('The append of a message with an idempotency key that a storage repeats after a lost commit is its own', async () => {
  const storage = mapStorage();
  const append = storage.append.bind(storage);
  let repeats = 0;
  storage.append = async (request, decide) => {
    const first = await append(request, decide);
    if (request.eventIds.length === 0) return first;
    repeats += 1;
    // The answer to the commit was lost, so the transaction runs again.
    return append(request, decide);
  };
  const service = await openSessionService({ storage });
  await service.createSession(KEY);
  const event = message();
  await storeOnce(service, structuredClone(event));
  assert.equal(repeats, 1);
  await assert.rejects(storeOnce(service, structuredClone(event)), isStored);
});

it('The append of a message with an idempotency key in a database of google-adk is made once, and no read shows its mark', async () => {
  const service = new DatabaseSessionService('sqlite::memory:');
  await service.createSession(KEY);
  const event = message();
  const session = await storeOnce(service, structuredClone(event));
  await assert.rejects(storeOnce(service, structuredClone(event)), isStored);
  assert.equal(session.events[0]?.customMetadata, undefined);
  const [read] = (await service.getSession(KEY))?.events ?? [];
  assert.equal(read?.customMetadata, undefined);
  const before = service.revisionOf((await service.getSession(KEY))!);
  await service.appendEvent({ session, event: read! });
  assert.equal(service.revisionOf((await service.getSession(KEY))!), before);
  await service.close();
});
