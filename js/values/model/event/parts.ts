import { isObject } from '../../json/rules.js';
import type { Part } from './content.js';
import type { Event } from './event.js';

/** Returns the parts of an event that are objects. Another program may have stored anything in their place. */
export function partsOf(event: Partial<Event> | undefined): readonly Part[] {
  const parts: unknown = event?.content?.parts;
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}
