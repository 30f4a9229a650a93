import { readNames, writeNames } from '../../values/python/casing.js';
import { EVENT } from '../../values/python/fields.js';
import { convertTimes, toAllMilliseconds, toAllSeconds } from '../../values/python/time.js';
import type { Part } from '../../values/model/event/content.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { sessionToFile } from '../../service/files/session_file.js';
import type { Session } from '../../values/model/session.js';
import type { JsonObject } from '../../values/json/rules.js';

/** How a client reads and writes sessions, events and times. */
export interface ClientForm {
  /** Returns a time of a request in milliseconds. The service refuses what is no number. */
  readonly readTime: (time: unknown) => unknown;
  /** Returns an event of a request. The service checks what it says. */
  readonly readEvent: (event: JsonObject) => NewEvent;
  /** Returns a part of a request, which is a file. The service checks what it says. */
  readonly readPart: (part: JsonObject) => Part;
  readonly writeEvent: (event: Event) => unknown;
  readonly writeSession: (session: Session) => JsonObject;
}

/** The form of `adk api_server`: camelCase, in requests also snake_case, and times in seconds. */
export const PYTHON_FORM: ClientForm = {
  readTime: inMilliseconds,
  readEvent: (event) => {
    const named = readNames(event, EVENT) as JsonObject;
    return convertTimes(named, inMilliseconds) as unknown as NewEvent;
  },
  readPart: (part) => {
    const named = readNames({ content: { parts: [part] } }, EVENT);
    return (named as { content: { parts: [Part] } }).content.parts[0];
  },
  writeEvent: (event) =>
    writeNames(convertTimes(event as unknown as JsonObject, inSeconds), EVENT, 'camel'),
  writeSession: (session) => sessionToFile(session, { casing: 'camel', timeUnit: 'seconds' }),
};

/** Our own form: everything as it is. */
export const OWN_FORM: ClientForm = {
  readTime: (time) => time,
  readEvent: (event) => event as unknown as NewEvent,
  readPart: (part) => part,
  writeEvent: (event) => event,
  writeSession: (session) => ({ ...session }),
};

function inMilliseconds(time: unknown): unknown {
  return typeof time === 'number' ? toAllMilliseconds(time) : time;
}

function inSeconds(time: unknown): unknown {
  return typeof time === 'number' ? toAllSeconds(time) : time;
}
