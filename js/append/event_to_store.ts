import type { Event } from '../model/event/event.js';
import type { EventSnapshot } from '../model/event/snapshot.js';
import type { PendingEvent } from './state_writer.js';

/** An event taken at the call, with the caller's object that it was taken from. */
export interface EventToStore extends PendingEvent {
  readonly event: Event;
  /** The title that it gives to a session without one. */
  readonly title?: string | undefined;
}

/** Returns the event without the given keys of its delta. */
export function withoutKeys(taken: EventToStore, keys: readonly string[]): EventToStore {
  if (keys.length === 0) return taken;
  const { snapshot } = taken;
  const delta: Record<string, unknown> = { ...snapshot.delta };
  const stored = JSON.parse(snapshot.deltaText) as Record<string, unknown>;
  for (const key of keys) {
    Reflect.deleteProperty(delta, key);
    Reflect.deleteProperty(stored, key);
  }
  const event = JSON.parse(snapshot.text) as Event;
  event.actions.stateDelta = stored;
  const reduced: EventSnapshot = {
    ...snapshot,
    delta,
    deltaText: JSON.stringify(stored),
    text: JSON.stringify(event),
    whole: snapshot.text,
    actions: { ...snapshot.actions, stateDelta: delta },
  };
  return { ...taken, snapshot: reduced };
}
