import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { begin, failNextAppend, failure, KEY, openOver, overStorages, says, stored, texts } from '../fixture.js'; // prettier-ignore
import { gate, MapStorage } from '../map_storage.js';

overStorages('Appends through one handle at once', (open) => {
  it('are stored and applied in the order of their calls', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    const names = Array.from({ length: 50 }, (_, number) => String(number));
    const appends = names.map((name) =>
      service.appendEvent({ session, event: says(name, { last: name, [name]: 1 }) }),
    );
    await Promise.all(appends);
    assert.deepEqual(texts(session), names);
    assert.deepEqual(texts(await stored(service)), names);
    assert.equal(session.state.last, '49');
    assert.deepEqual((await stored(service)).state, session.state);
  });

  it('never make the handle stale for each other, even through copies by spread', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    const copy = { ...session };
    await Promise.all([
      service.appendEvent({ session, event: says('one', { a: 1 }) }),
      service.appendEvent({ session: copy, event: says('two', { b: 2 }) }),
      service.appendEvents({ session, events: [says('three'), says('four')] }),
      service.appendEvent({ session: { ...copy }, event: says('five') }),
    ]);
    const all = ['one', 'two', 'three', 'four', 'five'];
    assert.deepEqual(texts(session), all);
    assert.equal(session.events, copy.events);
    assert.deepEqual(texts(await stored(service)), all);
  });

  it('continue after one of them failed', async () => {
    const { service, session } = await begin(open);
    const results = await Promise.allSettled([
      service.appendEvent({ session, event: says('one', { a: 1 }) }),
      service.appendEvent({ session, event: says('wrong', { bad: Infinity }) }),
      service.appendEvent({ session, event: says('three', { a: 3 }) }),
    ]);
    assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled']); // prettier-ignore
    assert.deepEqual(texts(session), ['one', 'three']);
    assert.deepEqual(session.state, { a: 3 });
  });

  it('settle even if all of them fail', async () => {
    const { service, session } = await begin(open);
    await service.deleteSession(KEY);
    const appends = ['one', 'two', 'three'].map((name) =>
      failure(service.appendEvent({ session, event: says(name) }), 'not_found'),
    );
    await Promise.all(appends);
    assert.deepEqual(session.events, []);
  });
});

overStorages('Appends through several handles of a session at once', (open) => {
  it('are all stored, each once', async () => {
    const { service, session } = await begin(open);
    const handles = [session, await stored(service), await stored(service)];
    await Promise.all(
      Array.from({ length: 30 }, (_, number) =>
        service.appendEvent({
          session: handles[number % 3]!,
          event: says(String(number), { [`k${number}`]: number }),
        }),
      ),
    );
    const read = await stored(service);
    assert.deepEqual(texts(read).sort(), Array.from({ length: 30 }, (_, n) => String(n)).sort());
    assert.equal(Object.keys(read.state).length, 30);
    for (const handle of handles) {
      await service.appendEvent({ session: handle, event: says('last') });
    }
    const events = texts(await stored(service));
    // The last handle has every event.
    assert.deepEqual(texts(handles[2]!), events);
    assert.deepEqual(handles[2]?.state, read.state);
  });

  it('that create it return the same session', async () => {
    const service = await open();
    const sessions = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        service.getOrCreateSession({ ...KEY, state: { creator: number } }),
      ),
    );
    assert.deepEqual(new Set(sessions.map(({ state }) => state.creator)).size, 1);
    assert.equal((await service.listSessions(KEY)).totalItems, 1);
  });
});

describe('The queue of a handle', () => {
  it('sends an append to the storage only when those before it have settled', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const { opened, open } = gate();
    let running = 0;
    storage.pause = async () => {
      running += 1;
      await opened;
    };
    const first = service.appendEvent({ session, event: says('one') });
    await new Promise(setImmediate);
    const second = service.appendEvent({ session, event: says('two') });
    await new Promise(setImmediate);
    assert.equal(running, 1);
    open();
    await Promise.all([first, second]);
    assert.equal(running, 2);
  });

  it('does not delay the appends of another session', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const other = await service.createSession({ ...KEY, sessionId: 'other' });
    const { opened, open } = gate();
    const append = storage.append.bind(storage);
    storage.append = async (request, decide) => {
      if (request.key.sessionId === 'session') await opened;
      return append(request, decide);
    };
    const slow = service.appendEvent({ session, event: says('slow') });
    await service.appendEvent({ session: other, event: says('fast') });
    assert.deepEqual([session.events.length, other.events.length], [0, 1]);
    open();
    await slow;
  });

  it('continues after a storage failure, with an event taken before it', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage, { stale: 'reject' });
    const session = await service.createSession(KEY);
    failNextAppend(storage, 'before', new Error('disk'));
    const first = service.appendEvent({ session, event: says('one', { a: 1 }) });
    await Promise.resolve();
    const second = service.appendEvent({ session, event: says('two', { b: 2 }) });
    await failure(first, 'storage_failed');
    await second;
    assert.deepEqual(texts(session), ['two']);
    assert.deepEqual(session.state, { b: 2 });
  });

  it('treats a batch as one append', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const batch = service.appendEvents({ session, events: [says('one'), says('two')] });
    const single = service.appendEvent({ session, event: says('three') });
    await Promise.all([batch, single]);
    assert.deepEqual(texts(await stored(service)), ['one', 'two', 'three']);
  });

  it('leaves handle and storage equal, whatever fails', async () => {
    const step = fc.record({
      kind: fc.constantFrom('append', 'append', 'batch', 'fail', 'lose', 'bad', 'wait'),
      key: fc.constantFrom('a', 'user:b', 'app:c'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const storage = new MapStorage();
        const service = await openOver(storage);
        const session = await service.createSession(KEY);
        const running: Promise<unknown>[] = [];
        const append = storage.append.bind(storage);
        let faults: ('before' | 'after')[] = [];
        storage.append = async (request, decide) => {
          const fault = faults.shift();
          if (fault === 'before') throw new Error('disk');
          await append(request, decide);
          if (fault === 'after') throw new Error('connection');
        };
        for (const [number, { kind, key }] of steps.entries()) {
          const event = says(String(number), { [key]: number });
          if (kind === 'fail') faults.push('before');
          if (kind === 'lose') faults.push('after');
          if (kind === 'bad') event.actions.stateDelta.bad = 1n;
          if (kind === 'wait') await Promise.allSettled(running);
          const events = kind === 'batch' ? [event, says(`${number}b`, { [key]: -1 })] : [event];
          running.push(service.appendEvents({ session, events }));
        }
        await Promise.allSettled(running);
        faults = [];
        await service.appendEvent({ session, event: says('last') });
        const read = await stored(service);
        assert.deepEqual(texts(session), texts(read));
        assert.deepEqual(session.state, read.state);
        assert.equal(session.lastUpdateTime, read.lastUpdateTime);
      }),
      { numRuns: 60 },
    );
  });
});
