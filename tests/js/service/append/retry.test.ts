import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type Event, SessionError, type Session, type SessionServiceOptions, type StateShape } from '../../../../js/index.js'; // prettier-ignore
import { failNextAppend, failure, KEY, openOver, says, stored, texts } from '../fixture.js';
import { MapStorage } from '../map_storage.js';

const lost = new SessionError('connection_lost', 'The answer is lost.');

function named(id: string, text: string, stateDelta: StateShape = {}): Event {
  return { ...says(text, stateDelta), id };
}

async function opened(options: SessionServiceOptions) {
  const storage = new MapStorage();
  const service = await openOver(storage, options);
  const session = await service.createSession({ ...KEY, state: { a: 0 } });
  /** Appends an event with a lost response, and retries. */
  const appendTwice = async (session: Session, event: Event): Promise<void> => {
    failNextAppend(storage, 'after', lost);
    await failure(service.appendEvent({ session, event }), 'connection_lost');
    await service.appendEvent({ session, event });
  };
  return { storage, service, session, appendTwice };
}

for (const stale of ['merge', 'append', 'reject'] as const) {
  describe(`A retry of an append with a lost response, with stale: '${stale}'`, () => {
    it('adds the event and its delta to the handle', async () => {
      const { service, session, appendTwice } = await opened({ stale });
      await appendTwice(session, named('one', 'one', { a: 1 }));
      assert.deepEqual(session, await stored(service));
    });

    it('adds the new version of a replaced event to the handle', async () => {
      const { service, session, appendTwice } = await opened({ stale });
      await service.appendEvent({ session, event: named('one', 'old', { a: 1 }) });
      await service.appendEvent({ session, event: named('two', 'two') });
      await appendTwice(session, named('one', 'new', { b: 2 }));
      assert.deepEqual(texts(session), ['new', 'two']);
      assert.deepEqual(session.state, { a: 1, b: 2 });
      assert.deepEqual(session, await stored(service));
    });

    it('adds the delta of an event that was changed in place to the handle', async () => {
      const { service, session, appendTwice } = await opened({ stale });
      const event = named('one', 'old', { a: 1 });
      await service.appendEvent({ session, event });
      event.content = { parts: [{ text: 'new' }] };
      event.actions.stateDelta = { b: 2 };
      await appendTwice(session, event);
      assert.deepEqual(session.state, { a: 1, b: 2 });
      assert.deepEqual(session, await stored(service));
    });

    it('adds events replaced by a write to the handle, whose calls are stored one by one', async () => {
      const { storage, service, session } = await opened({ stale });
      await service.appendEvent({ session, event: named('one', 'old', { a: 1 }) });
      failNextAppend(storage, 'after', lost);
      const events = [named('two', 'two', { b: 2 }), named('one', 'new', { a: 3 })];
      await Promise.all(events.map((event) => service.appendEvent({ session, event })));
      assert.deepEqual(texts(session), ['new', 'two']);
      assert.deepEqual(session.state, { a: 3, b: 2 });
      assert.deepEqual(session, await stored(service));
    });

    it('changes nothing on a handle that has the event', async () => {
      const { service, session } = await opened({ stale });
      const event = named('one', 'one', { a: 1 });
      await service.appendEvent({ session, event });
      await service.appendEvent({ session, event: named('two', 'two', { a: 2 }) });
      await service.appendEvent({ session, event });
      assert.deepEqual(session, await stored(service));
      assert.equal(session.state.a, 2);
    });
  });
}

describe("A retry through a handle with stale: 'append'", () => {
  it('keeps the writes of a later append of the handle', async () => {
    const { storage, service, session } = await opened({ stale: 'append' });
    const event = named('one', 'one', { a: 1, b: 1 });
    failNextAppend(storage, 'after', lost);
    await failure(service.appendEvent({ session, event }), 'connection_lost');
    await service.appendEvent({ session, event: named('two', 'two', { a: 2 }) });
    await service.appendEvent({ session, event });
    assert.deepEqual(session.state, { a: 2, b: 1 });
    assert.deepEqual((await stored(service)).state, session.state);
  });

  it('changes nothing on a handle that has the event, though others appended before it', async () => {
    const { service, session } = await opened({ stale: 'append' });
    const other = await stored(service);
    await service.appendEvent({ session: other, event: named('foreign', 'foreign', { f: 1 }) });
    const event = named('one', 'one', { a: 1 });
    await service.appendEvent({ session, event });
    await service.appendEvent({ session, event: named('two', 'two', { a: 2 }) });
    await service.appendEvent({ session, event });
    assert.deepEqual(texts(session), ['one', 'two']);
    assert.deepEqual(session.state, { a: 2 });
  });
});

describe("A retry through a handle with stale: 'reject'", () => {
  it('leaves the handle stale if another program appended after the event', async () => {
    const { storage, service, session } = await opened({ stale: 'reject' });
    const event = named('one', 'one');
    failNextAppend(storage, 'after', lost);
    await failure(service.appendEvent({ session, event }), 'connection_lost');
    const other = await stored(service);
    await service.appendEvent({ session: other, event: named('foreign', 'foreign') });
    await service.appendEvent({ session, event });
    await failure(service.appendEvent({ session, event: named('two', 'two') }), 'stale_session');
  });

  it('lets the handle append again if no one else did', async () => {
    const { service, session, appendTwice } = await opened({ stale: 'reject' });
    await appendTwice(session, named('one', 'one'));
    await service.appendEvent({ session, event: named('two', 'two') });
    assert.deepEqual(session, await stored(service));
  });
});
