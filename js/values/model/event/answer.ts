import type { Event, EventActions } from './event.js';
import { partsOf } from './parts.js';

/**
 * Whether an event may be an answer of a model: no changed state alone, and not only responses of tools. Such an event
 * may be read when the author's next answer has begun, so it ends no draft.
 */
export function isAnswer(event: Event): boolean {
  const parts = partsOf(event);
  if (parts.length > 0) return parts.some(({ functionResponse }) => functionResponse === undefined);
  const { stateDelta } = Object(event.actions) as Partial<EventActions>;
  return Object.keys(stateDelta ?? {}).length === 0;
}
