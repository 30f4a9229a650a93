import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { SessionError, State, type Event, type SessionServiceOptions, type StateShape } from '../../../../js/index.js'; // prettier-ignore
import { markUnwritten } from '../../../../js/values/errors/errors.js';
import { failNextAppend, failure, KEY, openOver, says, stored, texts, USER } from '../fixture.js';
import { gate, MapStorage } from '../map_storage.js';

/** A service over a storage that writes down which events each of its appends was for. */
async function recorded(options?: SessionServiceOptions) {
  const storage = new MapStorage();
  const service = await openOver(storage, options);
  const session = await service.createSession(KEY);
  const writes: (readonly string[])[] = [];
  const append = storage.append.bind(storage);
  storage.append = (request, decide) => {
    writes.push(request.eventIds);
    return append(request, decide);
  };
  return { storage, service, session, writes };
}

/** An event known by its id. */
function named(id: string, stateDelta: StateShape = {}): Event {
  return { ...says(id, stateDelta), id };
}

function names(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, n) => String(from + n));
}

describe('Appends that are called together', () => {
  it('are one write, each with its own outcome, in order', async () => {
    const { service, session, writes } = await recorded({ stale: 'reject' });
    const events = names(0, 64).map((name) => named(name, { last: name, [`k${name}`]: 1 }));
    const appends = events.map((event) => service.appendEvent({ session, event }));
    assert.deepEqual(await Promise.all(appends), events);
    assert.deepEqual(writes, [names(0, 64)]);
    assert.deepEqual(texts(session), names(0, 64));
    assert.equal(session.state.last, '63');
    assert.deepEqual(await stored(service), session);
  });

  it('are settled in their order', async () => {
    const { service, session } = await recorded();
    const settled: string[] = [];
    const appends = names(0, 10).map(async (name) => {
      await service.appendEvent({ session, event: named(name) });
      settled.push(name);
    });
    await Promise.all(appends);
    assert.deepEqual(settled, names(0, 10));
  });

  it('are several writes if there are many', async () => {
    const { service, session, writes } = await recorded();
    const batch = service.appendEvents({ session, events: names(0, 1000).map((n) => named(n)) });
    const singles = names(1000, 1300).map((name) => service.appendEvent({ session, event: named(name) })); // prettier-ignore
    await Promise.all([batch, ...singles]);
    assert.deepEqual(writes[0], names(0, 1000), 'a batch is one write');
    assert.deepEqual(writes.flat(), names(0, 1300));
    assert.ok(writes.length > 2, 'no write grows with the number of calls that wait');
    assert.ok(writes.length < 300, 'the calls share writes');
    assert.deepEqual(texts(await stored(service)), names(0, 1300));
    assert.deepEqual(texts(session), names(0, 1300));
  });

  it('come before later calls', async () => {
    const { service, session } = await recorded();
    const first = service.appendEvent({ session, event: named('one', { a: 1 }) });
    const read = service.getSession(KEY);
    assert.deepEqual(texts((await read)!), ['one']);
    await first;
    const second = service.appendEvent({ session, event: named('two', { a: 2 }) });
    const update = service.updateState({ ...KEY, stateDelta: { a: 3 } });
    await Promise.all([second, update]);
    assert.equal((await stored(service)).state.a, 3);
    const third = service.appendEvent({ session, event: named('three') });
    const gone = service.deleteSession(KEY);
    await Promise.all([third, gone]);
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('are one write for each handle', async () => {
    const { service, session, writes } = await recorded();
    const other = await service.createSession({ ...USER, sessionId: 'other' });
    const appends = names(0, 6).map((name, n) =>
      service.appendEvent({ session: n % 2 === 0 ? session : other, event: named(name) }),
    );
    await Promise.all(appends);
    assert.deepEqual(writes, [['0', '2', '4'], ['1', '3', '5']]); // prettier-ignore
    assert.deepEqual([texts(session), texts(other)], [['0', '2', '4'], ['1', '3', '5']]); // prettier-ignore
  });

  it('through a copy by spread with another id go to that session', async () => {
    const clock = (): number => 1_700_000_000_000;
    const atOnce = (text: string) => ({ ...named(text), timestamp: clock() });
    const { service, session } = await recorded({ stale: 'append', clock });
    await service.createSession({ ...USER, sessionId: 'other' });
    const copy = { ...session };
    const moved = { ...session, id: 'other', events: [] };
    await Promise.all([
      service.appendEvent({ session, event: atOnce('one') }),
      service.appendEvent({ session: copy, event: atOnce('two') }),
      service.appendEvent({ session: moved, event: atOnce('three') }),
      service.appendEvent({ session, event: atOnce('four') }),
    ]);
    assert.deepEqual(texts(await stored(service, { ...USER, sessionId: 'other' })), ['three']);
    assert.deepEqual(texts(session), ['one', 'two', 'four']);
    assert.equal(copy.lastUpdateTime, session.lastUpdateTime);
    assert.deepEqual(texts(await stored(service)), ['one', 'two', 'four']);
  });

  it('keep the last temp: values on the handle', async () => {
    const { service, session } = await recorded();
    const connection = (): number => 1;
    const events = [named('one', { 'temp:a': connection, b: 1 }), named('two', { 'temp:a': 2, 'temp:c': 3 })]; // prettier-ignore
    await Promise.all(events.map((event) => service.appendEvent({ session, event })));
    assert.deepEqual(session.state, { 'temp:a': 2, 'temp:c': 3, b: 1 });
    assert.deepEqual(events.map(({ actions }) => actions.stateDelta), [{ b: 1 }, {}]); // prettier-ignore
    assert.deepEqual((await stored(service)).state, { b: 1 });
  });

  it('are separate writes if an id repeats, with the same or another event', async () => {
    const { service, session, writes } = await recorded();
    const event = named('one', { a: 1 });
    const other = named('one', { a: 2 });
    await Promise.all(
      [event, event, other].map((event) => service.appendEvent({ session, event })),
    );
    assert.equal(writes.length, 3);
    assert.deepEqual([session.events, session.state], [[other], { a: 2 }]);
    assert.deepEqual(await stored(service), session);
  });

  it('do not undo later writes, if one is a retry from before the window', async () => {
    for (const stale of ['append', 'reject', 'merge'] as const) {
      const { service, session } = await recorded({ stale });
      const old = named('old', { k: 'old' });
      await service.appendEvent({ session, event: structuredClone(old) });
      await service.appendEvent({ session, event: named('new', { k: 'new' }) });
      const windowed = (await service.getSession({ ...KEY, config: { numRecentEvents: 1 } }))!;
      await Promise.all([
        service.appendEvent({ session: windowed, event: old }),
        service.appendEvent({ session: windowed, event: named('more') }),
      ]);
      assert.equal(windowed.state.k, 'new', stale);
      assert.equal((await stored(service)).state.k, 'new');
    }
  });
});

describe('Appends that wait for another', () => {
  it('are one write afterwards', async () => {
    const { storage, service, session, writes } = await recorded();
    const { opened, open } = gate();
    storage.pause = () => opened;
    const appends = [service.appendEvent({ session, event: named('0') })];
    await new Promise((done) => setTimeout(done, 1));
    for (const name of names(1, 20)) {
      appends.push(service.appendEvent({ session, event: named(name) }));
      await Promise.resolve();
    }
    open();
    await Promise.all(appends);
    assert.deepEqual(writes, [['0'], names(1, 20)]);
    assert.deepEqual(texts(session), names(0, 20));
  });

  it('are omitted if their signal fired, and reject with aborted', async () => {
    const { service, session, writes } = await recorded();
    const controller = new AbortController();
    const { signal } = controller;
    const events = ['one', 'two', 'three'].map((name) => named(name, { [name]: 1 }));
    const appends = events.map((event, n) =>
      service.appendEvent({ session, event, ...(n === 1 && { signal }) }),
    );
    controller.abort('changed my mind');
    assert.equal((await failure(appends[1]!, 'aborted')).cause, 'changed my mind');
    await Promise.all([appends[0], appends[2]]);
    assert.deepEqual(writes, [['one', 'three']]);
    assert.deepEqual(session.state, { one: 1, three: 1 });
    assert.deepEqual(await stored(service), session);
  });

  it('write nothing if all their signals fired', async () => {
    const { service, session, writes } = await recorded();
    const controller = new AbortController();
    const { signal } = controller;
    const appends = names(0, 3).map((name) => service.appendEvent({ session, event: named(name), signal })); // prettier-ignore
    controller.abort();
    await Promise.all(appends.map((append) => failure(append, 'aborted')));
    assert.deepEqual(writes, []);
    await service.appendEvent({ session, event: named('after') });
    assert.deepEqual(texts(session), ['after']);
  });
});

describe('A write of several calls that fails', () => {
  for (const [when, stale] of [
    ['before', 'reject'],
    ['after', 'reject'],
    ['after', 'append'],
    ['after', 'merge'],
  ] as const) {
    it(`is stored one by one if the storage failed once, ${when} it had written (${stale})`, async () => {
      const { storage, service, session, writes } = await recorded({ stale });
      failNextAppend(storage, when, new Error('connection'));
      const events = names(0, 5).map((name) => named(name, { last: name, 'temp:last': name }));
      await Promise.all(events.map((event) => service.appendEvent({ session, event })));
      const singly = names(0, 5).map((name) => [name]);
      assert.deepEqual(writes, when === 'before' ? singly : [names(0, 5), ...singly]);
      assert.deepEqual(texts(session), names(0, 5));
      assert.deepEqual(session.state, { last: '4', 'temp:last': '4' });
      const read = await stored(service);
      assert.deepEqual(texts(read), names(0, 5));
      assert.equal(read.state.last, '4');
    });
  }

  it('fails with `connection_lost` for a call that a lost response may have stored', async () => {
    const { storage, service, session } = await recorded();
    const append = storage.append.bind(storage);
    storage.append = async (request, decide) => {
      if (request.eventIds[0] === 'two') throw new Error('constraint');
      await append(request, decide);
      if (request.eventIds.length > 1) throw new SessionError('connection_lost', 'lost');
    };
    const events = [named('one'), named('two')];
    const [one, two] = events.map((event) => service.appendEvent({ session, event }));
    await one;
    await failure(two!, 'connection_lost');
    assert.deepEqual(texts(await stored(service)), ['one', 'two']);
  });

  it('fails with the error of its own attempt for a call whose write was lost before its commit', async () => {
    const { storage, service, session } = await recorded();
    storage.append = (request) => {
      const isCombined = request.eventIds.length > 1;
      const error = new SessionError('connection_lost', isCombined ? 'not sent' : 'perhaps stored');
      if (isCombined) markUnwritten(error);
      throw error;
    };
    const appends = ['one', 'two'].map((id) => service.appendEvent({ session, event: named(id) }));
    for (const append of appends) {
      assert.equal((await failure(append, 'connection_lost')).message, 'perhaps stored');
    }
  });

  it('fails only for the calls that fail by themselves', async () => {
    const { storage, service, session } = await recorded({ stale: 'reject' });
    const append = storage.append.bind(storage);
    storage.append = (request, decide) => {
      if (request.eventIds.includes('two')) throw new Error('constraint');
      return append(request, decide);
    };
    const [one, two, three] = ['one', 'two', 'three'].map((id) => named(id, { [id]: 1, 'temp:t': id })); // prettier-ignore
    const appends = [one!, two!, three!].map((event) => service.appendEvent({ session, event }));
    await failure(appends[1]!, 'storage_failed');
    await Promise.all([appends[0], appends[2]]);
    assert.deepEqual(texts(session), ['one', 'three']);
    assert.deepEqual(session.state, { one: 1, three: 1, 'temp:t': 'three' });
    assert.deepEqual(two!.actions.stateDelta, { two: 1, 'temp:t': 'two' });
    assert.deepEqual((await stored(service)).state, { one: 1, three: 1 });
    storage.append = append;
    await service.appendEvent({ session, event: two! });
    assert.deepEqual(texts(await stored(service)), ['one', 'three', 'two']);
  });

  it('keeps a batch in it atomic', async () => {
    const { storage, service, session, writes } = await recorded();
    const append = storage.append.bind(storage);
    storage.append = (request, decide) => {
      if (request.eventIds.includes('bad')) {
        writes.push(request.eventIds);
        throw new Error('constraint');
      }
      return append(request, decide);
    };
    const single = service.appendEvent({ session, event: named('one') });
    const batch = service.appendEvents({ session, events: [named('two'), named('bad')] });
    const sound = service.appendEvents({ session, events: [named('three'), named('four')] });
    await failure(batch, 'storage_failed');
    await Promise.all([single, sound]);
    assert.deepEqual(writes, [
      ['one', 'two', 'bad', 'three', 'four'],
      ['one'],
      ['two', 'bad'],
      ['three', 'four'],
    ]);
    assert.deepEqual(texts(session), ['one', 'three', 'four']);
    assert.deepEqual(texts(await stored(service)), ['one', 'three', 'four']);
  });

  it('rejects each call with its own reason if all fail', async () => {
    const { service, session } = await recorded({ stale: 'reject' });
    const late = await stored(service);
    await service.appendEvent({ session, event: named('one') });
    const appends = names(0, 3).map((name) => service.appendEvent({ session: late, event: named(name) })); // prettier-ignore
    for (const append of appends) await failure(append, 'stale_session');
    assert.deepEqual([late.events, texts(await stored(service))], [[], ['one']]);
  });

  it('does not refuse a retry among its calls, though its handle is stale', async () => {
    const { service, session } = await recorded({ stale: 'reject' });
    const late = await stored(service);
    const event = named('one', { a: 1 });
    await service.appendEvent({ session, event });
    const retry = service.appendEvent({ session: late, event: structuredClone(event) });
    const fresh = service.appendEvent({ session: late, event: named('two') });
    await retry;
    // The retry has updated the handle.
    await fresh;
    assert.deepEqual(texts(late), ['one', 'two']);
    assert.deepEqual(texts(await stored(service)), ['one', 'two']);
  });

  it('removes superseded keys of each call again', async () => {
    const { storage, service, session, writes } = await recorded();
    const [older, newer]: StateShape[] = [{}, {}];
    new State(session.state, older).update({ k: 'older', l: 'older' });
    new State(session.state, newer).set('k', 'newer');
    const append = storage.append.bind(storage);
    storage.append = (request, decide) => {
      if (!request.eventIds.includes('newer')) return append(request, decide);
      writes.push(request.eventIds);
      throw new Error('constraint');
    };
    const first = { ...named('newer'), actions: { ...named('x').actions, stateDelta: newer! } };
    const second = { ...named('older'), actions: { ...named('x').actions, stateDelta: older! } };
    const failed = failure(service.appendEvent({ session, event: first }), 'storage_failed');
    await Promise.all([failed, service.appendEvent({ session, event: second })]);
    // As part of that write, it would lack `k`, whose newer write was not stored.
    assert.deepEqual(writes, [['newer', 'older'], ['newer'], ['older']]);
    assert.deepEqual((await stored(service)).state, { k: 'older', l: 'older' });
    storage.append = append;
    await service.appendEvent({ session, event: first });
    assert.deepEqual((await stored(service)).state, { k: 'newer', l: 'older' });
    assert.deepEqual(session.state, { k: 'newer', l: 'older' });
  });

  it('lets later calls continue in order, and close wait for all', async () => {
    const { storage, service, session } = await recorded({ stale: 'reject' });
    failNextAppend(storage, 'before', new Error('connection'));
    const appends = names(0, 3).map((name) => service.appendEvent({ session, event: named(name) }));
    await new Promise((done) => setTimeout(done, 1));
    appends.push(service.appendEvent({ session, event: named('3') }));
    const read = service.getSession(KEY);
    await service.close();
    await Promise.all([...appends, read]);
    assert.deepEqual(texts(session), names(0, 4));
  });

  it('isolates each append, whichever fail', async () => {
    const call = fc.record({ size: fc.integer({ min: 1, max: 3 }), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 8 }), async (calls) => {
        const { storage, service, session } = await recorded({ stale: 'reject' });
        const append = storage.append.bind(storage);
        storage.append = (request, decide) => {
          if (request.eventIds.some((id) => id.startsWith('bad'))) throw new Error('constraint');
          return append(request, decide);
        };
        const batches = calls.map(
          ({ size, fails }, n) =>
          names(0, size).map((name) => named(`${fails ? 'bad' : 'good'} ${n} ${name}`, { [`k${n}`]: name })), // prettier-ignore
        );
        const results = await Promise.allSettled(
          batches.map((events) => service.appendEvents({ session, events })),
        );
        assert.deepEqual(results.map(({ status }) => status === 'rejected'), calls.map(({ fails }) => fails)); // prettier-ignore
        const landed = batches.flat().filter(({ id }) => id.startsWith('good'));
        assert.deepEqual(session.events, landed);
        assert.deepEqual(await stored(service), session);
      }),
      { numRuns: 60 },
    );
  });
});
