import { readNames, writeNames } from '../../python/casing.js';
import { EVENT } from '../../python/fields.js';
import { convertTimes, toAllMilliseconds, toAllSeconds } from '../../python/time.js';
import type { Event, NewEvent } from '../../model/event/event.js';
import { sessionToFile } from '../../files/format/session_file.js';
import type { Session } from '../../model/session.js';
import type { JsonObject } from '../../json/rules.js';

/** Returns an event as `adk api_server` writes it: camelCase, and times in seconds. */
export function eventToJson(event: Event): unknown {
  return writeNames(convertTimes({ ...event }, secondsOf), EVENT, 'camel');
}

/**
 * Reads an event in camelCase or snake_case, with times in seconds; one of our own client as it is. The service
 * checks what it says.
 */
export function eventFromJson(event: JsonObject, isOwnClient: boolean): NewEvent {
  if (isOwnClient) return event as unknown as NewEvent;
  const named = readNames(event, EVENT) as JsonObject;
  return convertTimes(named, millisecondsOf) as unknown as NewEvent;
}

/** Returns a session as `adk api_server` writes it, or as it is for our own client. */
export function sessionToJson(session: Session, isOwnClient: boolean): JsonObject {
  if (isOwnClient) return { ...session };
  return sessionToFile(session, { casing: 'camel', timeUnit: 'seconds' });
}

/** Returns a time of a request in milliseconds. The service refuses what is no number. */
export function millisecondsOf(time: unknown): unknown {
  return typeof time === 'number' ? toAllMilliseconds(time) : time;
}

function secondsOf(time: unknown): unknown {
  return typeof time === 'number' ? toAllSeconds(time) : time;
}
