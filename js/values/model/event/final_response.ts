import type { Event, EventActions } from './event.js';
import { partsOf } from './parts.js';
import { failureOfEvent } from './shown.js';

/**
 * Returns whether the event is an agent's final response, by the rule of `@google/adk`.
 *
 * It is one if it skips summarisation, has long running tools or asks for credentials. Otherwise it
 * must not be partial, hold no function call or response, and not end with a code execution result.
 * A `null` in JSON from Python counts as absent.
 *
 * @example
 * ```ts
 * import { createEvent, isFinalResponse } from 'adk-session-wasm';
 *
 * isFinalResponse(createEvent({ content: { parts: [{ text: 'Done.' }] } })); // true
 * isFinalResponse(createEvent({ content: { parts: [{ functionCall: { name: 'f' } }] } })); // false
 * ```
 */
export function isFinalResponse(event: Event): boolean {
  // `actions` may be missing on an event that is not appended yet or comes from JSON.
  const actions = event.actions as Partial<EventActions> | undefined | null;
  if (actions?.skipSummarization) return true;
  if ((event.longRunningToolIds?.length ?? 0) > 0) return true;
  if (Object.keys(actions?.requestedAuthConfigs ?? {}).length > 0) return true;
  if (event.partial) return false;
  const parts = partsOf(event);
  if (parts.some((part) => part.functionCall ?? part.functionResponse)) return false;
  return (parts[parts.length - 1]?.codeExecutionResult ?? undefined) === undefined;
}

/**
 * Returns the text of a final response: its text parts joined, without thoughts. The option
 * `outputKey` of `Invocation.append` stores this text. Agents of `@google/adk` 2.0.0 store thoughts
 * too.
 *
 * @returns `undefined` if the event is not a final response, is partial, or has no text
 *
 * @example
 * ```ts
 * import { createEvent, finalResponseText } from 'adk-session-wasm';
 *
 * finalResponseText(createEvent({ content: { parts: [{ text: 'Hel' }, { text: 'lo' }] } })); // 'Hello'
 * ```
 */
export function finalResponseText(event: Event): string | undefined {
  if (event.partial || !isFinalResponse(event)) return undefined;
  let text = '';
  for (const part of partsOf(event)) {
    if (!part.thought && typeof part.text === 'string') text += part.text;
  }
  return text === '' ? undefined : text;
}

/**
 * Whether an event may be an answer of a model: no changed state alone, no error alone, and not only responses of tools.
 * Other events end no draft: they may be read when the author's next answer has begun, and what was streamed before an
 * error stays.
 */
export function isAnswer(event: Event): boolean {
  if (failureOfEvent(event) !== undefined) return false;
  const parts = partsOf(event);
  if (parts.length > 0) return parts.some(({ functionResponse }) => functionResponse === undefined);
  const { stateDelta } = Object(event.actions) as Partial<EventActions>;
  return Object.keys(stateDelta ?? {}).length === 0;
}
