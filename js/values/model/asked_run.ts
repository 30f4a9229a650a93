import { invalid, invalidValue } from '../errors/invalid.js';
import type { NewEvent } from './event/event.js';
import { partsOf } from './event/parts.js';
import { isStored } from './event/stored.js';
import type { AppendEventRequest } from './session.js';

/** The run that a write asks for: the server's agent answers the message that is stored. */
export type AskedRun = NonNullable<AppendEventRequest['run']>;

/**
 * Takes the message of an append with `run`: the only event, of the user, with parts.
 *
 * @param name the member of the request that holds the events
 * @param expectedEvents the versions that the append expects: at most that the message is not stored
 * @throws SessionError `invalid_argument`
 */
export function takeRunMessage<E extends NewEvent>(
  name: 'event' | 'events',
  events: readonly E[],
  expectedEvents: unknown,
): E {
  const [message, another] = events;
  if (message === undefined || another !== undefined || !isStored(message)) {
    throw invalid(name, 'must be one event that is not partial if run is given');
  }
  const path = name === 'event' ? name : 'events[0]';
  const { author, id } = message;
  if (author !== 'user') throw invalidValue(`${path}.author`, "must be 'user' with run", author);
  requireRunParts(`${path}.content`, message);
  const isReplacing = Object.entries(expectedEvents ?? {}).some(
    ([expected, revision]) => expected !== id || revision !== null,
  );
  if (isReplacing) {
    throw invalid(
      'expectedEvents',
      'must not be given with run: a stored message is never replaced',
    );
  }
  return message;
}

/** @throws SessionError `invalid_argument` if a message that an agent answers has no parts */
export function requireRunParts(name: string, { content }: Pick<NewEvent, 'content'>): void {
  if (typeof content === 'string' || partsOf(content && { content }).length > 0) return;
  throw invalid(name, 'must have parts with run');
}
