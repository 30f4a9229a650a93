// Retries of an event, another event with its id, and concurrent calls.

import { createEvent, type Event, type Session } from 'adk-session-wasm';
import { freshId, hostileAttempt, plainAttempt } from './events.js';
import { isSameJson, must, outcomeOf, present, requireTypedError } from './oracle.js';
import { textEvent, type World } from './world.js';

/** Checks that a retry stores nothing twice, and that another event with the same id replaces the event. */
export async function attackRetry(world: World, session: Session): Promise<void> {
  const { service, random } = world;
  const attempt = plainAttempt(random);
  const event = attempt.event as Event;
  const copy = structuredClone(event);
  await service.appendEvent({ session, event });
  const once = await world.read();
  const handle = random.once(2) ? session : present(await service.getSession(world.key));
  await service.appendEvent({ session: handle, event: random.once(2) ? event : copy });
  const twice = await world.read();
  must(isSameJson(once, twice), 'A retry changes nothing.', once, twice);
  const changed = createEvent({ ...copy, author: 'changed', actions: { stateDelta: { value: 2 } } });
  await service.appendEvent({ session: handle, event: changed });
  const after = await world.read();
  must(after?.events.length === once?.events.length, 'An event with a stored id replaces the event.', after);
  must((after?.events.at(-1) as Event | undefined)?.author === 'changed', 'The stored event is the new one.', after);
} // prettier-ignore

/** Makes concurrent appends through one handle, one of them hostile: each has its own outcome. */
export async function attackConcurrently(world: World, session: Session): Promise<void> {
  const { service, random } = world;
  const before = await world.readBefore();
  world.needsNewSessions = true;
  const good = Array.from({ length: 1 + random.below(5) }, () => textEvent(freshId()));
  const bad = hostileAttempt(random).event as Event;
  const calls = good.map((event) => service.appendEvent({ session, event }));
  calls.splice(random.below(calls.length), 0, outcomeOf(() => service.appendEvent({ session, event: bad })) as Promise<never>); // prettier-ignore
  const outcomes = await Promise.all(calls.map((call) => outcomeOf(() => call)));
  for (const outcome of outcomes) {
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
}
