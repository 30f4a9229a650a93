/** Names of fields. */
import { isPlainObject, type JsonObject } from '../json/rules.js';
import { defineMember } from '../members.js';

/**
 * Returns the snake_case name of a field: `toolUsePromptTokenCount` becomes `tool_use_prompt_token_count`.
 */
export function snakeName(camelName: string): string {
  return camelName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Splits a text at white space. */
export function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

// Reads the names that adk-go wrote before version 2.2: those of its Go types, such as `InvocationID`.

/** The values that Go writes for a field that is not set. Later versions omit such a field. */
const UNSET: readonly unknown[] = [null, '', false, 0];

/**
 * Returns an event of adk-go under the names of our types, without fields that are not set. Returns any other event
 * as it is.
 *
 * @param event JSON; not changed. Data in it is shared with the result.
 */
export function readGoNames(event: JsonObject): JsonObject {
  if (!Object.hasOwn(event, 'InvocationID') || !Object.hasOwn(event, 'Actions')) return event;
  const { Actions: actions } = event;
  return renamed({ ...event, Actions: isPlainObject(actions) ? renamed(actions) : actions });
}

function renamed(fields: JsonObject): JsonObject {
  const read: JsonObject = {};
  for (const [goName, value] of Object.entries(fields)) {
    // The field's type allows any value, so only `null` means that it is not set.
    const isAny = goName === 'Output' && value !== null;
    if (isAny || !UNSET.includes(value)) defineMember(read, camelName(goName), value);
  }
  return read;
}

/** `LongRunningToolIDs` becomes `longRunningToolIds`. */
function camelName(goName: string): string {
  const words = goName.replace(/ID(?=s?$)/, 'Id');
  return words.slice(0, 1).toLowerCase() + words.slice(1);
}
