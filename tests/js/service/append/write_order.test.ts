import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createEvent, State, type Event, type StateShape } from '../../../../js/index.js';
import { assertUnchanged, begin, overStorages, says, stored } from '../fixture.js';
import { retrySuperseded, SUPERSEDED } from './superseded_retries.js';

/** An event that carries the very delta a State wrote to, as an agent's does. */
function carrying(delta: StateShape): Event {
  const event = createEvent({ author: 'agent' });
  event.actions.stateDelta = delta;
  return event;
}

/** The state that the deltas of the stored events produce. */
function folded(events: readonly Event[]): StateShape {
  const state: StateShape = {};
  for (const { actions } of events) {
    for (const [key, value] of Object.entries(actions.stateDelta)) {
      if (value === State.REMOVED) delete state[key];
      else state[key] = value;
    }
  }
  return state;
}

overStorages('Two agents that write to one state', (open) => {
  for (const order of ['older first', 'newer first']) {
    it(`end with the later write, ${order}`, async () => {
      const { service, session } = await begin(open);
      const [deltaA, deltaB]: StateShape[] = [{}, {}];
      const a = new State(session.state, deltaA);
      const b = new State(session.state, deltaB);
      a.set('k', 'older');
      b.set('k', 'newer');
      a.set('only a', 1);
      b.set('only b', 2);
      const events = [carrying(deltaA!), carrying(deltaB!)];
      if (order === 'newer first') events.reverse();
      for (const event of events) await service.appendEvent({ session, event });
      const expected = { k: 'newer', 'only a': 1, 'only b': 2 };
      assert.deepEqual(session.state, expected);
      const read = await stored(service);
      assert.deepEqual(read.state, expected);
      assert.deepEqual(folded(read.events), expected);
    });

    it(`end with the later write in one batch, ${order}`, async () => {
      const { service, session } = await begin(open);
      const [deltaA, deltaB]: StateShape[] = [{}, {}];
      new State(session.state, deltaA).set('k', 'older');
      new State(session.state, deltaB).delete('k');
      const events = [carrying(deltaA!), carrying(deltaB!)];
      if (order === 'newer first') events.reverse();
      await service.appendEvents({ session, events });
      assert.deepEqual(session.state, {});
      const read = await stored(service);
      assert.deepEqual(read.state, {});
      assert.deepEqual(folded(read.events), {});
    });

    it(`end with the later write if both appends run at once, ${order}`, async () => {
      const { service, session } = await begin(open);
      const [deltaA, deltaB]: StateShape[] = [{}, {}];
      new State(session.state, deltaA).set('user:k', 'older');
      new State(session.state, deltaB).set('user:k', 'newer');
      const events = [carrying(deltaA!), carrying(deltaB!)];
      if (order === 'newer first') events.reverse();
      await Promise.all(events.map((event) => service.appendEvent({ session, event })));
      assert.deepEqual(session.state, { 'user:k': 'newer' });
      assert.deepEqual((await stored(service)).state, { 'user:k': 'newer' });
    });
  }

  it("remove a superseded write from the older event, even from the caller's", async () => {
    const { service, session } = await begin(open);
    const [deltaA, deltaB]: StateShape[] = [{}, {}];
    new State(session.state, deltaA).update({ k: 'older', kept: 1 });
    new State(session.state, deltaB).set('k', 'newer');
    const [older, newer] = [carrying(deltaA!), carrying(deltaB!)];
    await service.appendEvent({ session, event: newer });
    await service.appendEvent({ session, event: older });
    assert.deepEqual(older.actions.stateDelta, { kept: 1 });
    assert.deepEqual(deltaA, { k: 'older', kept: 1 }, "the context's delta is not touched");
    const { events } = await stored(service);
    assert.deepEqual(events[1], JSON.parse(JSON.stringify(older)));
    const before = structuredClone(await stored(service));
    await service.appendEvent({ session, event: older });
    assert.deepEqual(await stored(service), before, 'a retry is a no-op');
  });

  for (const scene of SUPERSEDED) {
    it(`are not repeated by a retry of an event ${scene}`, async () => {
      assertUnchanged(await retrySuperseded(await open(), { State, createEvent }, scene));
    });
  }

  it('include a write that is not stored yet, after another event was', async () => {
    const { service, session } = await begin(open);
    const delta: StateShape = {};
    const state = new State(session.state, delta);
    state.set('k', 'unstored');
    await service.appendEvent({ session, event: says('other', { other: 1 }) });
    assert.equal(state.get('k'), 'unstored');
    assert.deepEqual((await stored(service)).state, { other: 1 });
    await service.appendEvent({ session, event: carrying(delta) });
    assert.deepEqual((await stored(service)).state, { other: 1, k: 'unstored' });
  });

  it('keep an unstored write of their own when a merge brings an older one', async () => {
    const { service, session } = await begin(open);
    const late = await stored(service);
    const delta: StateShape = {};
    await service.appendEvent({ session, event: says('one', { k: 'theirs', l: 1 }) });
    new State(late.state, delta).set('k', 'mine');
    await service.appendEvent({ session: late, event: says('two') });
    assert.deepEqual(late.state, { k: 'mine', l: 1 });
    await service.appendEvent({ session: late, event: carrying(delta) });
    assert.equal((await stored(service)).state.k, 'mine');
  });

  it('date a hand-made delta to its append', async () => {
    const { service, session } = await begin(open);
    const delta: StateShape = {};
    new State(session.state, delta).set('k', 'by State');
    await service.appendEvent({ session, event: says('by hand', { k: 'by hand' }) });
    await service.appendEvent({ session, event: carrying(delta) });
    assert.equal((await stored(service)).state.k, 'by hand');
    assert.equal(session.state.k, 'by hand');
  });

  it('apply to temp: keys', async () => {
    const { service, session } = await begin(open);
    const [deltaA, deltaB]: StateShape[] = [{}, {}];
    new State(session.state, deltaA).set('temp:k', 'older');
    new State(session.state, deltaB).set('temp:k', 'newer');
    await service.appendEvent({ session, event: carrying(deltaB!) });
    await service.appendEvent({ session, event: carrying(deltaA!) });
    assert.deepEqual(session.state, { 'temp:k': 'newer' });
  });
});
