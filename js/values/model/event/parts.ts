import { invalid, invalidValue } from '../../errors/invalid.js';
import { requireObject } from '../../errors/option_values.js';
import { isObject, isPlainObject } from '../../json/rules.js';
import type { Content, Part } from './content.js';
import type { Event } from './event.js';

/** Returns the parts of an event that are objects. Another program may have stored anything in their place. */
export function partsOf(event: Partial<Event> | undefined): readonly Part[] {
  const parts: unknown = event?.content?.parts;
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}

/** Returns whether an event has a function call or a response. */
export function hasCallParts(event: Event): boolean {
  return partsOf(event).some(({ functionCall, functionResponse }) => {
    return isPlainObject(functionCall) || isPlainObject(functionResponse);
  });
}

/**
 * Checks that models take the content that a page sends. Only pages are checked: stored sessions, and models of others,
 * have other roles and parts.
 *
 * @throws SessionError `invalid_argument` for a role of another API, and a part without a member
 */
export function requireSendable(key: string, event: Event): void {
  const { role } = event.content ?? {};
  if (role !== undefined && role !== 'user' && role !== 'model') {
    throw invalidValue(`${key}.role`, "must be 'user' or 'model'", role);
  }
  const empty = partsOf(event).findIndex((part) => Object.keys(part).length === 0);
  if (empty >= 0) {
    throw invalid(`${key}.parts[${empty}]`, 'must have a member, such as text');
  }
}

/**
 * Returns the content that is given for an event. A text becomes a message with one part: untyped programs write it so,
 * and Python reads a text as no content at all.
 *
 * @throws SessionError `invalid_argument` if it is neither a text nor an object
 */
export function takeContent(content: unknown, author: unknown, key = 'event.content'): Content {
  if (typeof content === 'string') {
    return { role: author === 'user' ? 'user' : 'model', parts: [{ text: content }] };
  }
  requireObject(key, content);
  return content;
}
