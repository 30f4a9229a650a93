import type { Event } from '../../values/model/event/event.js';
import type { EventSnapshot } from '../../values/model/event/snapshot.js';
import type { PendingEvent } from './state_writer.js';

/** An event taken at the call, with the caller's object that it was taken from. */
export interface EventToStore extends PendingEvent {
  readonly event: Event;
}

/** Returns the event without the given keys of its delta. */
export function withoutKeys(taken: EventToStore, keys: readonly string[]): EventToStore {
  if (keys.length === 0) return taken;
  const { snapshot } = taken;
  const delta: Record<string, unknown> = { ...snapshot.delta };
  const stored = JSON.parse(snapshot.deltaText) as Record<string, unknown>;
  const event = JSON.parse(snapshot.text) as Event;
  const eventDelta = { ...snapshot.actions.stateDelta };
  for (const key of keys) {
    for (const each of [delta, stored, event.actions.stateDelta, eventDelta]) {
      Reflect.deleteProperty(each, key);
    }
  }
  const reduced: EventSnapshot = {
    ...snapshot,
    delta,
    deltaText: JSON.stringify(stored),
    text: JSON.stringify(event),
    whole: snapshot.text,
    actions: { ...snapshot.actions, stateDelta: eventDelta },
  };
  return { ...taken, snapshot: reduced };
}
