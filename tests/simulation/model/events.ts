import { createEvent, type Event, type StateShape } from '../../../js/index.js';
import type { Call, EventSpec } from '../operation.js';
import { canonicalEvent } from './canonical.js';
import { partOf } from './world.js';

/** The event that a caller appends. */
export function eventOf({ id, text, timestamp, delta }: EventSpec): Event {
  return createEvent({
    id,
    invocationId: 'i',
    author: 'user',
    timestamp,
    content: { role: 'user', parts: [{ text }] },
    actions: { stateDelta: structuredClone(delta) },
  });
}

const texts = new WeakMap<EventSpec, string>();

/** The canonical text of the stored event, without `temp:` keys. */
export function storedText(spec: EventSpec): string {
  let text = texts.get(spec);
  if (text === undefined) {
    text = canonicalEvent(eventOf({ ...spec, delta: withoutTemp(spec.delta) }));
    texts.set(spec, text);
  }
  return text;
}

/** The canonical text of the event that `updateState` stores. */
export function updateText(delta: StateShape, { now }: Call): string {
  const event = createEvent({ invocationId: 'p-', author: 'user', timestamp: now });
  event.actions.stateDelta = withoutTemp(delta);
  return canonicalEvent(event);
}

function withoutTemp(delta: StateShape): StateShape {
  return { ...partOf(delta, 'app'), ...partOf(delta, 'user'), ...partOf(delta, 'session') };
}
