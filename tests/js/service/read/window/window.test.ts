import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { Event, Session } from '../../../../../js/index.js';
import { asAdkService } from '../../../../../js/service/adk/index.js';
import { KEY, overStorages, stored } from '../../fixture.js';
import { asks, tells, speaks, calls, answers, turns, ids, holding } from './turns.js';

const REFUSAL = { code: 'invalid_argument', key: 'numRecentEvents' };

overStorages('A service for a Runner with `numRecentEvents`', (open) => {
  it('returns the last events, from the user message that began their turn', async () => {
    const steps = [asks('q'), tells('a'), tells('b'), tells('c')];
    const service = await holding(open, 2, [...turns(0, 30), ...steps]);
    assert.deepEqual(ids(await service.getSession(KEY)), ['q', 'a', 'b', 'c']);
    assert.deepEqual(ids(await service.getOrCreateSession(KEY)), ['q', 'a', 'b', 'c']);
  });

  it('returns exactly the requested number if a turn begins there', async () => {
    const service = await holding(open, 4, turns(0, 30));
    assert.deepEqual(ids(await service.getSession(KEY)), ['q28', 'a28', 'q29', 'a29']);
  });

  it('limits a spoken session as a written one', async () => {
    const spoken = Array.from({ length: 40 }, (_, number) => [
      speaks(`q${number}`),
      tells(`a${number}`),
      tells(`b${number}`),
    ]);
    const service = await holding(open, 4, spoken.flat());
    const last = ['q38', 'a38', 'b38', 'q39', 'a39', 'b39'];
    assert.deepEqual(ids(await service.getSession(KEY)), last);
  });

  it('returns the current state, and a handle that can append', async () => {
    const service = await holding(open, 2, turns(0, 30), 'reject');
    await service.updateState({ ...KEY, stateDelta: { topic: 'tea', 'user:name': 'Ada' } });
    const session = await service.getOrCreateSession(KEY);
    assert.deepEqual(session.state, { topic: 'tea', 'user:name': 'Ada' });
    await service.appendEvent({ session, event: asks('next') });
    assert.equal(ids(session).at(-1), 'next');
  });

  it('does not change a request with a window of its own', async () => {
    const service = await holding(open, 2, [...turns(0, 30), tells('b')]);
    const last = { ...KEY, config: { numRecentEvents: 2 } };
    assert.deepEqual(ids(await service.getSession(last)), ['a29', 'b']);
    const all = { ...KEY, config: { afterTimestamp: 0 } };
    assert.equal(ids(await service.getSession(all)).length, 61);
    const none = { ...KEY, config: { numRecentEvents: 0 } };
    assert.deepEqual(ids(await service.getSession(none)), []);
  });

  it('returns all events of a shorter session, and none of a new one', async () => {
    const service = await holding(open, 50, turns(0, 3));
    assert.deepEqual(ids(await service.getSession(KEY)), ids({ events: turns(0, 3) } as Session));
    const other = await service.getOrCreateSession({ ...KEY, sessionId: 'other' });
    assert.deepEqual(ids(other), []);
    assert.equal(await service.getSession({ ...KEY, sessionId: 'nobody' }), undefined);
  });

  it('returns all events for a number beyond any history, with skipCorrupt too', async () => {
    const service = await holding(open, 2 ** 52, turns(0, 30));
    for (const skipCorrupt of [false, true]) {
      const session = await service.getSession({ ...KEY, config: { skipCorrupt } });
      assert.equal(ids(session).length, 60);
    }
  });

  it('returns no events for numRecentEvents 0', async () => {
    const service = await holding(open, 0, turns(0, 30));
    assert.deepEqual(ids(await service.getSession(KEY)), []);
  });

  it('reaches back to the last user message, however long ago', async () => {
    const alone = Array.from({ length: 300 }, (_, number) => tells(`t${number}`));
    const service = await holding(open, 2, [...turns(0, 2), asks('go'), ...alone]);
    const read = ids(await service.getSession(KEY));
    assert.equal(read.length, 301);
    assert.equal(read[0], 'go');
  });

  it('reaches back to the call of a response', async () => {
    const before = [asks('q'), calls('c', 'c1'), tells('wait')];
    const late = [answers('r', 'c1', 'user'), tells('done')];
    const service = await holding(open, 2, [...turns(0, 9), ...before, ...turns(20, 30), ...late]);
    const read = ids(await service.getSession(KEY));
    assert.deepEqual(read.slice(0, 3), ['q', 'c', 'wait']);
    assert.equal(read.length, 3 + 60 + 2);
  });

  it('reaches back to the nearest of several calls with the same id', async () => {
    const turn = (number: number): Event[] => [
      asks(`q${number}`),
      calls(`c${number}`, 'call_0'),
      answers(`r${number}`, 'call_0'),
    ];
    const service = await holding(open, 1, Array.from({ length: 20 }, (_, n) => turn(n)).flat());
    assert.deepEqual(ids(await service.getSession(KEY)), ['q19', 'c19', 'r19']);
  });

  it('does not search for a call that was never stored', async () => {
    const stray = [answers('stray', 'nobody', 'user'), tells('x')];
    const service = await holding(open, 2, [...turns(0, 30), asks('q'), ...stray]);
    assert.deepEqual(ids(await service.getSession(KEY)), ['q', 'x']);
  });

  it("does not begin with the input of a workflow's node", async () => {
    const input = [
      asks('to-node', { branch: 'flow.node' }),
      asks('scoped', { isolationScope: 's' }),
    ];
    const service = await holding(open, 2, [...turns(0, 30), asks('q'), ...input]);
    assert.deepEqual(ids(await service.getSession(KEY)), ['q', 'to-node', 'scoped']);
  });

  it('reaches back to the start of a workflow that waits for an answer', async () => {
    const node = { nodeInfo: { path: 'flow' } };
    const run = (number: number, more: Partial<Event>): Event[] => [
      asks(`run${number}`, { invocationId: `i${number}` }),
      tells(`w${number}`, { invocationId: `i${number}`, ...node, ...more }),
      tells(`o${number}`, { invocationId: `i${number}`, ...node }),
    ];
    const waits = { longRunningToolIds: ['x'] };
    const runs = [run(1, {}), run(2, waits), run(3, waits), run(4, {})].flat();
    const service = await holding(open, 1, [...turns(0, 9), ...runs]);
    assert.equal(ids(await service.getSession(KEY))[0], 'run2');
    await service.appendEvents({ session: await stored(service), events: turns(20, 1) });
    assert.deepEqual(ids(await service.getSession(KEY)), ['q20', 'a20']);
  });

  it('includes all events later than those that a summary covers', async () => {
    const at = (events: Event[], timestamp: number): Event[] =>
      events.map((event) => ({ ...event, timestamp }));
    const summary = { ...tells('summary'), isCompacted: true, startTime: 1, endTime: 1000 };
    const kept = at(turns(50, 2), 2000);
    const after = at(turns(60, 1), 3000);
    const events = [...at(turns(0, 30), 1000), ...kept, ...at([summary], 2500), ...after];
    const service = await holding(open, 3, events);
    const expected = ['q29', 'a29', 'q50', 'a50', 'q51', 'a51', 'summary', 'q60', 'a60'];
    assert.deepEqual(ids(await service.getSession(KEY)), expected);
    // Once the summary lies before the window, nothing is left to be looked for.
    await service.appendEvents({ session: await stored(service), events: at(turns(70, 2), 4000) });
    assert.deepEqual(ids(await service.getSession(KEY)), ['q70', 'a70', 'q71', 'a71']);
  });

  it('adds the call of a late response to the handle when the response is appended', async () => {
    const before = [asks('q'), calls('c', 'c1'), tells('wait')];
    const service = await holding(open, 2, [...turns(0, 9), ...before, ...turns(20, 100)]);
    const session = await stored(service);
    const { events, state } = session;
    assert.deepEqual(ids(session), ['q119', 'a119']);
    const answer = answers('r', 'c1', 'user');
    assert.equal(await service.appendEvent({ session, event: answer }), answer);
    assert.equal(session.events, events);
    assert.equal(session.state, state);
    assert.deepEqual(ids(session), [...['q', 'c', 'wait'], ...ids({ events: turns(20, 100) } as Session), 'r']); // prettier-ignore
    assert.equal(session.events.at(-1), answer);
    await service.appendEvents({ session, events: [tells('next'), tells('last')] });
    assert.deepEqual(ids(session).slice(-3), ['r', 'next', 'last']);
  });

  it('adds the call for several events, for an empty window, and with foreign events in between', async () => {
    const before = [asks('q'), calls('c', 'c1')];
    const service = await holding(open, 0, [...before, ...turns(0, 50)]);
    const session = await stored(service);
    const foreign = turns(60, 30);
    await service.appendEvents({ session: await stored(service), events: foreign });
    await service.appendEvents({ session, events: [answers('r', 'c1', 'user'), tells('done')] });
    const read = ids(session);
    assert.deepEqual(read.slice(0, 2), ['q', 'c']);
    assert.deepEqual(read.slice(-2), ['r', 'done']);
    assert.equal(new Set(read).size, read.length);
  });

  it('does not change a handle whose view the caller chose', async () => {
    const service = await holding(open, 2, [asks('q'), calls('c', 'c1'), ...turns(0, 50)]);
    const session = await service.getSession({
      ...KEY,
      config: { numRecentEvents: 2, view: 'raw' },
    });
    await service.appendEvent({ session: session!, event: answers('r', 'c1', 'user') });
    assert.deepEqual(ids(session), ['q49', 'a49', 'r']);
  });

  it('adds nothing for a partial event', async () => {
    const service = await holding(open, 2, [asks('q'), calls('c', 'c1'), ...turns(0, 50)]);
    const session = await stored(service);
    const partial = { ...answers('r', 'c1', 'user'), partial: true };
    await service.appendEvent({ session, event: partial });
    assert.deepEqual(ids(session), ['q49', 'a49']);
  });

  it('adds newer events to a stale handle, and none from before its window', async () => {
    const service = await holding(open, 2, turns(0, 50), 'merge');
    const session = await stored(service);
    const other = await stored(service);
    const replaced = { ...asks('q3'), content: { parts: [{ text: 'other' }] } };
    await service.appendEvents({ session: other, events: [replaced, asks('foreign')] });
    await service.appendEvent({ session, event: asks('own') });
    assert.deepEqual(ids(session), ['q49', 'a49', 'foreign', 'own']);
  });

  it("stores a new version of an event from before the window in the event's position", async () => {
    const service = await holding(open, 2, turns(0, 50));
    const session = await stored(service);
    const replaced = { ...asks('q3'), content: { parts: [{ text: 'other' }] } };
    await service.appendEvent({ session, event: replaced });
    assert.equal(ids(session).filter((id) => id === 'q3').length, 1);
    const all = await service.getSession({ ...KEY, config: { afterTimestamp: 0 } });
    assert.deepEqual(ids(all), ids({ events: turns(0, 50) } as Session));
    assert.equal(all?.events[6]?.content?.parts?.[0]?.text, 'other');
    assert.deepEqual(ids(await service.getSession(KEY)), ['q49', 'a49']);
  });

  for (const numRecentEvents of [-1, 1.5, NaN, Infinity, 2 ** 53, '5', true]) {
    it(`refuses ${String(numRecentEvents)} (${typeof numRecentEvents}) for a number of events`, async () => {
      const service = await open();
      const options = { numRecentEvents } as { numRecentEvents: number };
      assert.throws(() => asAdkService(service, options), REFUSAL);
    });
  }

  it('refuses a number of events of another view', async () => {
    const service = await open();
    assert.throws(() => asAdkService(service, { numRecentEvents: 5, view: 'raw' }), REFUSAL);
  });
});
