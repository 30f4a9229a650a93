import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { EventWindow } from '../../../../js/ui/inspector/timeline/event_window.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const event = (number: number) => ({ id: `e${number}`, invocationId: 'i1', author: 'user' });

async function storeOf(count: number) {
  const service = new InMemorySessionService();
  const events = Array.from({ length: count }, (_, index) => event(index + 1));
  const session = await service.createSession({ ...KEY, events });
  return { service, session, window: new EventWindow(service, KEY) };
}

/** The first and the last held event, and whether there are more. */
function held(window: EventWindow): unknown[] {
  const { events, hasOlder, hasNewer } = window.getSnapshot();
  return [events[0]?.id, events.at(-1)?.id, events.length, hasOlder, hasNewer];
}

describe('A window of events', () => {
  it('shows the newest events with their numbers', async () => {
    const { window } = await storeOf(450);
    await window.open('newest');
    assert.deepEqual(held(window), ['e251', 'e450', 200, true, false]);
    const { firstNumber, eventCount } = window.getSnapshot();
    assert.deepEqual([firstNumber, eventCount], [251, 450]);
    await window.loadOlder();
    assert.deepEqual(held(window), ['e51', 'e450', 400, true, false]);
    await window.loadOlder();
    assert.deepEqual(held(window), ['e1', 'e450', 450, false, false]);
    assert.equal(window.getSnapshot().firstNumber, 1);
  });

  it('holds at most 1,000 events, in either direction', async () => {
    const { window } = await storeOf(2500);
    await window.open('newest');
    for (let step = 0; step < 20; step += 1) {
      await window.loadOlder();
      assert.ok(window.getSnapshot().events.length <= 1000);
    }
    assert.deepEqual(held(window), ['e1', 'e1000', 1000, false, true]);
    for (let step = 0; step < 20; step += 1) await window.loadNewer();
    assert.deepEqual(held(window), ['e1501', 'e2500', 1000, true, false]);
    assert.equal(window.getSnapshot().firstNumber, 1501);
  });

  it('jumps to the oldest event and reads on from there', async () => {
    const { window } = await storeOf(700);
    await window.open('oldest');
    assert.deepEqual(held(window), ['e1', 'e200', 200, false, true]);
    await window.loadNewer();
    assert.deepEqual(held(window), ['e1', 'e400', 400, false, true]);
    assert.equal(window.getSnapshot().firstNumber, 1);
  });

  it('opens around an event, also the first and the last', async () => {
    const { window } = await storeOf(700);
    for (const [eventId, expected] of [
      ['e350', ['e251', 'e450', 200, true, true]],
      ['e1', ['e1', 'e101', 101, false, true]],
      ['e700', ['e601', 'e700', 100, true, false]],
    ] as const) {
      await window.open({ eventId });
      assert.deepEqual(held(window), expected);
    }
  });

  it('follows the end of the session', async () => {
    const { service, session, window } = await storeOf(3);
    await window.open('newest');
    await service.appendEvent({ session, event: event(4) });
    await service.appendEvent({ session, event: { ...event(2), author: 'guide' } });
    const { events } = await service.listEvents({ ...KEY });
    window.follow(events);
    assert.deepEqual(held(window), ['e1', 'e4', 4, false, false]);
    assert.equal(window.getSnapshot().events[1]?.author, 'guide');
    assert.equal(window.getSnapshot().eventCount, 4);
  });

  it('counts new events while it shows older ones', async () => {
    const { service, session, window } = await storeOf(700);
    await window.open('oldest');
    await service.appendEvent({ session, event: event(701) });
    window.follow((await service.listEvents({ ...KEY })).events);
    assert.deepEqual(held(window), ['e1', 'e200', 200, false, true]);
    assert.equal(window.getSnapshot().eventCount, 701);
  });

  it('reads the end again when it has missed too much', async () => {
    const { service, session, window } = await storeOf(3);
    await window.open('newest');
    await service.appendEvents({
      session,
      events: Array.from({ length: 500 }, (_, at) => event(at + 4)),
    });
    window.follow((await service.listEvents({ ...KEY, limit: 50 })).events);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(held(window), ['e304', 'e503', 200, true, false]);
  });

  it('shows nothing of a session that was deleted and created again', async () => {
    for (const [place, count] of [
      ['newest', 0],
      ['newest', 2],
      ['oldest', 2],
    ] as const) {
      const { service, window } = await storeOf(700);
      await window.open(place);
      await service.deleteSession(KEY);
      const ids = ['n1', 'n2'].slice(0, count);
      const events = ids.map((id) => ({ ...event(0), id }));
      await service.createSession({ ...KEY, events });
      const opened = new Promise<void>((resolve) => {
        window.subscribe(({ events }) => {
          if (events.length === count) resolve();
        });
      });
      window.follow((await service.listEvents({ ...KEY })).events);
      await opened;
      assert.deepEqual(held(window), [ids[0], ids[1], count, false, false]);
      assert.equal(window.getSnapshot().eventCount, count);
    }
  });

  it('stays at older events when it has missed many new ones', async () => {
    const { service, session, window } = await storeOf(700);
    await window.open('oldest');
    const asked = service.listEvents.bind(service);
    let answered: () => void = () => undefined;
    const isAnswered = new Promise<void>((resolve) => (answered = resolve));
    service.listEvents = (request) => asked(request).finally(answered);
    const events = Array.from({ length: 500 }, (_, at) => event(at + 701));
    await service.appendEvents({ session, events });
    window.follow((await asked({ ...KEY, limit: 50 })).events);
    await isAnswered;
    assert.deepEqual(held(window), ['e1', 'e200', 200, false, true]);
  });

  it('shows why a session cannot be read, and opens it once it exists', async () => {
    const service = new InMemorySessionService();
    const window = new EventWindow(service, KEY);
    await window.open('newest');
    assert.equal(window.getSnapshot().status, 'failed');
    assert.match(String(window.getSnapshot().error), /does not exist/);
    await service.createSession({ ...KEY, events: [event(1)] });
    await window.open('newest');
    assert.equal(window.getSnapshot().status, 'ready');
    assert.equal(window.getSnapshot().error, undefined);
  });

  it('shows the last of several jumps', async () => {
    const { window } = await storeOf(700);
    await Promise.all([
      window.open('newest'),
      window.open({ eventId: 'e350' }),
      window.open('oldest'),
    ]);
    assert.deepEqual(held(window), ['e1', 'e200', 200, false, true]);
  });
});
