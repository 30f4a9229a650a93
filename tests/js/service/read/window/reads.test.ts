// How much a service for a `Runner` with `numRecentEvents` reads, and what it returns if the session changes between its reads.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../../js/service/adk/index.js';
import type { Event } from '../../../../../js/index.js';
import { failure, KEY, openOver, says, stored } from '../../fixture.js';
import { MapStorage } from '../../map_storage.js';
import { asks, tells, calls, answers, turns, ids, holding } from './turns.js';

/** A capped service over a storage whose reads are counted. */
async function counted(numRecentEvents: number, events: Event[]) {
  const storage = new MapStorage();
  const service = await holding((options) => openOver(storage, options), numRecentEvents, events);
  const windows: (number | undefined)[] = [];
  let before = (): unknown => undefined;
  const read = storage.read.bind(storage);
  storage.read = async (request) => {
    await before();
    windows.push(request.window.last);
    return read(request);
  };
  return { storage, service, windows, beforeRead: (run: () => unknown) => (before = run) };
}

describe('A service for a Runner with `numRecentEvents`', () => {
  it('reads once if nothing has to be extended, and only a few events more', async () => {
    const { service, windows } = await counted(50, turns(0, 200));
    assert.equal(ids(await service.getSession(KEY)).length, 50);
    assert.equal(windows.length, 1);
    assert.ok(windows[0]! < 100, String(windows[0]));
  });

  it('reads a few times if it must reach far back, and never the whole session', async () => {
    const alone = Array.from({ length: 1000 }, (_, number) => tells(`t${number}`));
    const { service, windows } = await counted(10, [...turns(0, 4000), asks('go'), ...alone]);
    assert.equal(ids(await service.getSession(KEY)).length, 1001);
    assert.ok(windows.length <= 5, windows.join());
    assert.ok(
      windows.every((last) => last! < 5000),
      windows.join(),
    );
  });

  it('reads nothing if the handle has the call of a response', async () => {
    const { service, windows } = await counted(2, [...turns(0, 50), asks('q')]);
    const session = await stored(service);
    windows.length = 0;
    await service.appendEvent({ session, event: calls('c', 'c1') });
    await service.appendEvent({ session, event: answers('r', 'c1') });
    await service.appendEvents({ session, events: [calls('d', 'd1'), answers('s', 'd1')] });
    assert.deepEqual(windows, []);
  });

  it('returns events, state and revision of one moment, despite appends between its reads', async () => {
    const alone = Array.from({ length: 200 }, (_, number) => tells(`t${number}`));
    const { service, windows, beforeRead } = await counted(3, [
      ...turns(0, 9),
      asks('go'),
      ...alone,
    ]);
    const writer = await stored(service);
    windows.length = 0;
    let count = 0;
    beforeRead(async () => {
      count += 1;
      const event = { ...tells(`between${count}`), actions: { ...says('').actions, stateDelta: { count } } }; // prettier-ignore
      await service.appendEvent({ session: writer, event });
    });
    const session = await stored(service);
    assert.ok(windows.length > 1);
    assert.deepEqual(session.state, { count });
    assert.deepEqual(ids(session).slice(-2), [`between${count - 1}`, `between${count}`]);
    assert.equal(ids(session)[0], 'go');
  });

  it('returns undefined for a session deleted between its reads', async () => {
    const alone = Array.from({ length: 200 }, (_, number) => tells(`t${number}`));
    const { service, windows, beforeRead } = await counted(3, [asks('go'), ...alone]);
    beforeRead(() => (windows.length === 1 ? service.deleteSession(KEY) : undefined));
    assert.equal(await service.getSession(KEY), undefined);
    assert.equal(windows.length, 2);
  });

  it("omits damaged events with skipCorrupt, and still finds the window's start", async () => {
    const { storage, service } = await counted(3, [
      ...turns(0, 50),
      asks('q'),
      tells('a'),
      tells('b'),
    ]);
    storage.damage('a49', '{');
    storage.damage('a', '{');
    await failure(service.getSession(KEY), 'corrupt_record');
    const read = await service.getSession({ ...KEY, config: { skipCorrupt: true } });
    assert.deepEqual(ids(read), ['q49', 'q', 'b']);
  });

  it('adds a call that could not be read earlier at the next append', async () => {
    const { storage, service } = await counted(2, [asks('q'), calls('c', 'c1'), ...turns(0, 50)]);
    const session = await stored(service);
    const event = answers('r', 'c1', 'user');
    const read = storage.read.bind(storage);
    storage.read = () => Promise.reject(new Error('no line'));
    assert.equal(await service.appendEvent({ session, event }), event);
    assert.equal(ids(session).includes('c'), false);
    storage.read = read;
    await service.appendEvent({ session, event: tells('next') });
    assert.deepEqual(ids(session).slice(0, 2), ['q', 'c']);
    assert.equal(ids(session).filter((id) => id === 'r').length, 1);
  });

  it('adds a call as the view of the handle shows it, without what a rewind has undone', async () => {
    const turn = (invocationId: string, ...events: Event[]) =>
      events.map((event) => ({ ...event, invocationId }));
    const actions = { ...says('').actions, rewindBeforeInvocationId: 'i2' };
    const { service } = await counted(1, [
      ...turn('i1', asks('q'), calls('c', 'c1')),
      ...turn('i2', asks('undone'), tells('also undone')),
      ...turn('i3', tells('rewind', { actions })),
      ...turn('i4', asks('next')),
    ]);
    const session = (await service.getSession({ ...KEY, config: { view: 'model' } }))!;
    assert.deepEqual(ids(session), ['next']);
    await service.appendEvent({ session, event: answers('r', 'c1') });
    assert.deepEqual(ids(session), ['q', 'c', 'next', 'r']);
  });

  it('applies to synchronous calls', () => {
    const service = new InMemorySessionService({ numRecentEvents: 2 });
    const session = service.createSessionSync(KEY);
    void service.appendEvents({ session, events: turns(0, 50) });
    assert.deepEqual(ids(service.getSessionSync(KEY)), ['q49', 'a49']);
  });
});
