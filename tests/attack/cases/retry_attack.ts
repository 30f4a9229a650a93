// Retries of an event, another event with its id, and concurrent calls.

import { createEvent, type Event } from 'adk-session-wasm';
import fc from 'fast-check';
import { hostileAttempt, plainAttempt } from './events.js';
import { isSameJson, must, outcomeOf, present, requireTypedError } from './oracle.js';
import { planned } from './planned.js';
import { freshId, textEvent, type World } from './world.js';

/** Checks that a retry stores nothing twice, and that another event with the same id replaces the event. */
export const attackRetry = planned(
  'retry ',
  fc.record({ attempt: plainAttempt, isReread: fc.boolean(), isCopy: fc.boolean() }),
  async ({ attempt, isReread, isCopy }, world: World): Promise<void> => {
    const { service, handle: session } = world;
    const event = attempt().event as Event;
    const copy = structuredClone(event);
    await service.appendEvent({ session, event });
    const once = await world.read();
    const handle = isReread ? present(await service.getSession(world.key)) : session;
    await service.appendEvent({ session: handle, event: isCopy ? copy : event });
    const twice = await world.read();
    must(isSameJson(once, twice), 'A retry changes nothing.', once, twice);
    const changed = createEvent({ ...copy, author: 'changed', actions: { stateDelta: { value: 2 } } });
    await service.appendEvent({ session: handle, event: changed });
    const after = await world.read();
    must(after?.events.length === once?.events.length, 'An event with a stored id replaces the event.', after);
    must((after?.events.at(-1) as Event | undefined)?.author === 'changed', 'The stored event is the new one.', after);
  },
); // prettier-ignore

/** Makes concurrent appends through one handle, one of them hostile: each has its own outcome. */
export const attackConcurrently = planned(
  'concurrently ',
  fc.record({ attempt: hostileAttempt, count: fc.integer({ min: 1, max: 5 }), place: fc.nat(4) }),
  async ({ attempt, count, place }, world: World): Promise<void> => {
    const { service, handle: session } = world;
    const before = await world.readBefore();
    world.needsNewSessions = true;
    const good = Array.from({ length: count }, () => textEvent(freshId()));
    const bad = attempt().event as Event;
    const append = (event: Event) => outcomeOf(() => service.appendEvent({ session, event }));
    const earlier = good.slice(0, place % count).map(append);
    const hostile = append(bad);
    const later = good.slice(place % count).map(append);
    requireTypedError(await hostile);
    for (const outcome of await Promise.all([...earlier, ...later])) {
      requireTypedError(outcome);
      must(outcome.isDone, 'A valid append succeeds despite an invalid one.', outcome);
    }
    const after = await world.read();
    const ids = (after?.events ?? []).slice(before?.events.length ?? 0) as Event[];
    const goodIds = new Set(good.map(({ id }) => id));
    const stored = ids.filter(({ id }) => goodIds.has(id)).map(({ id }) => id);
    must(
      isSameJson(
        stored,
        good.map(({ id }) => id),
      ),
      'All valid events are stored in order.',
      ids,
    );
  },
); // prettier-ignore
