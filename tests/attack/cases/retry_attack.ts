// The same event again, another of its id, and many calls at once.

import { createEvent, type Event, type Session } from 'adk-session-wasm';
import { freshId, hostileAttempt, plainAttempt } from './events.js';
import { isSameJson, must, outcomeOf, present, requireTypedError } from './oracle.js';
import { said, type World } from './world.js';

/** A retry stores nothing twice; another event of the same id takes its place. */
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
  must(after?.events.length === once?.events.length, 'An event of a known id takes its place.', after);
  must((after?.events.at(-1) as Event | undefined)?.author === 'changed', 'It is the new one.', after);
} // prettier-ignore

/** Many calls through one handle, the hostile among them: each has its own outcome. */
export async function attackAtOnce(world: World, session: Session): Promise<void> {
  const { service, random } = world;
  const before = await world.readBefore();
  world.isSpent = true;
  const good = Array.from({ length: 1 + random.below(5) }, () => said(freshId()));
  const bad = hostileAttempt(random).event as Event;
  const calls = good.map((event) => service.appendEvent({ session, event }));
  calls.splice(random.below(calls.length), 0, outcomeOf(() => service.appendEvent({ session, event: bad })) as Promise<never>); // prettier-ignore
  const outcomes = await Promise.all(calls.map((call) => outcomeOf(() => call)));
  for (const outcome of outcomes) {
    requireTypedError(outcome);
    must(outcome.isDone, 'A good append succeeds beside a bad one.', outcome);
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
    'All of them are stored, in order.',
    ids,
  );
}
