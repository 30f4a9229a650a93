/**
 * Reads a session that an ADK has recorded, and makes it one of ours: Python writes `snake_case` and
 * seconds, TypeScript `camelCase` and milliseconds, and Python's REST server camelCase and seconds.
 *
 * Fields are renamed by a list of those that the ADK has, so that what users put in, in `state`,
 * `args`, `response`, `customMetadata` and the like, is kept to the letter, and so are fields which
 * nobody knows.
 */

import { readFile } from 'node:fs/promises';
import { createEventActions, type Event, type EventActions, type Session } from 'adk-session-wasm';

/** What is in such a file. Its `state` is the one after the last event. */
export type RecordedSession = Session;

/** How to read a field's value; `'keep'`: users' data, kept to the letter. */
type Shape = 'keep' | 'message' | 'time' | { list: Shape } | { fields: Record<string, Shape> };

function fields(shape: Shape, ...names: string[]): Record<string, Shape> {
  return Object.fromEntries(names.map((name) => [name, shape]));
}

// prettier-ignore
const PART: Shape = {
  fields: {
    ...fields('keep', 'text', 'thought', 'thoughtSignature', 'partMetadata'),
    ...fields('message', 'inlineData', 'fileData', 'videoMetadata', 'executableCode', 'codeExecutionResult', 'mediaResolution'),
    functionCall: { fields: fields('keep', 'id', 'name', 'args', 'willContinue', 'partialArgs') },
    functionResponse: { fields: fields('keep', 'id', 'name', 'response', 'willContinue', 'scheduling', 'parts') },
  },
};

const CONTENT: Shape = { fields: { role: 'keep', parts: { list: PART } } };

const COMPACTION: Shape = {
  fields: { startTimestamp: 'time', endTimestamp: 'time', compactedContent: CONTENT },
};

// prettier-ignore
const ACTIONS: Shape = {
  fields: {
    ...fields(
      'keep',
      'stateDelta', 'artifactDelta', 'requestedAuthConfigs', 'requestedToolConfirmations', 'customMetadata',
      'skipSummarization', 'transferToAgent', 'transferReason', 'escalate', 'agentState', 'endOfAgent',
      'rewindBeforeInvocationId', 'route', 'renderUiWidgets', 'setModelResponse',
    ),
    compaction: COMPACTION,
  },
};

// prettier-ignore
const EVENT: Shape = {
  fields: {
    ...fields(
      'keep',
      'id', 'invocationId', 'author', 'branch', 'partial', 'turnComplete', 'turnCompleteReason', 'interrupted',
      'interactionStatus', 'finishReason', 'errorCode', 'errorMessage', 'longRunningToolIds', 'customMetadata',
      'interactionId', 'environmentId', 'modelVersion', 'liveSessionId', 'avgLogprobs', 'output', 'route',
      'isolationScope', 'isCompacted', 'isScratchpad', 'compactedContent',
    ),
    ...fields(
      'message',
      'groundingMetadata', 'citationMetadata', 'usageMetadata', 'cacheMetadata', 'logprobsResult', 'goAway',
      'liveSessionResumptionUpdate', 'voiceActivity', 'inputTranscription', 'outputTranscription', 'nodeInfo',
    ),
    ...fields('time', 'timestamp', 'startTime', 'endTime'),
    content: CONTENT,
    actions: ACTIONS,
  },
};

const SESSION: Shape = {
  fields: {
    ...fields('keep', 'id', 'appName', 'userId', 'state'),
    lastUpdateTime: 'time',
    events: { list: EVENT },
  },
};

/**
 * Reads a recorded session.
 *
 * @throws Error with one clear sentence, if it is missing or no session
 */
export async function readSessionFile(path: string): Promise<RecordedSession> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new Error(problem, { cause: error });
  }
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`is not JSON: ${reason.split('\n')[0]}`, { cause: error });
  }
  return toSession(json);
}

/**
 * Makes a session of what an ADK has recorded.
 *
 * @throws Error with one clear sentence, if it is none
 */
export function toSession(json: unknown): RecordedSession {
  if (!isObject(json)) throw new Error('is not an ADK session: it is no object');
  const session = convert(json, SESSION, '') as Partial<Session>;
  const { id = '', appName = 'recorded', userId = 'user', state = {}, events } = session;
  if (!Array.isArray(events)) throw new Error('is not an ADK session: it has no list of events');
  if (!isObject(state)) throw new Error('is not an ADK session: its state is no object');
  for (const [name, value] of Object.entries({ id, appName, userId })) {
    if (typeof value !== 'string') throw new Error(`is not an ADK session: its ${name} is no text`);
  }
  return {
    id,
    appName,
    userId,
    state,
    events: events.map((event: unknown, at) => toEvent(event, `event ${at + 1}`)),
    lastUpdateTime: session.lastUpdateTime ?? 0,
  };
}

function toEvent(event: unknown, where: string): Event {
  if (!isObject(event)) throw new Error(`is not an ADK session: ${where} is no object`);
  const { actions = {}, content } = event;
  const delta = isObject(actions) ? (actions.stateDelta ?? {}) : undefined;
  if (!isObject(delta)) {
    throw new Error(`is not an ADK session: actions and state delta of ${where} are no objects`);
  }
  const parts: unknown = isObject(content) ? (content.parts ?? []) : [];
  if (!Array.isArray(parts) || !parts.every(isObject)) {
    throw new Error(`is not an ADK session: the parts of ${where} are no list of objects`);
  }
  return { ...event, actions: createEventActions(actions as Partial<EventActions>) } as Event;
}

function convert(value: unknown, shape: Shape, path: string): unknown {
  if (shape === 'keep') return value;
  if (shape === 'time') return toMilliseconds(value, path);
  if (shape === 'message') return camelized(value);
  if ('list' in shape) {
    if (!Array.isArray(value)) return value;
    return value.map((item, at) => convert(item, shape.list, `${path}[${at}]`));
  }
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const name = toCamelCase(key);
    const known = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (known === undefined) {
      define(result, key, member);
      continue;
    }
    // Python writes null for what is not there. Where both spellings are, it reads camelCase.
    if (member === null || (name !== key && Object.hasOwn(value, name))) continue;
    result[name] = convert(member, known, path === '' ? name : `${path}.${name}`);
  }
  return result;
}

/** Messages of the model's API hold no keys of users, so that all of theirs are renamed. */
function camelized(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelized);
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== null) define(result, toCamelCase(key), camelized(member));
  }
  return result;
}

/**
 * Seconds or milliseconds: 1e11 as seconds is the year 5138, and as milliseconds it is March 1973,
 * so that no session that was ever recorded can be taken for the other.
 */
const SECONDS_BELOW = 1e11;

function toMilliseconds(value: unknown, path: string): number {
  if (typeof value !== 'number') throw new Error(`is not an ADK session: ${path} is no number`);
  // To the microsecond, which is as precise as Python is: 1741218414.968405 * 1000 is not.
  return Math.abs(value) < SECONDS_BELOW ? Math.round(value * 1e6) / 1e3 : value;
}

function toCamelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

/** `__proto__` is a key like any other. */
function define(target: object, key: string, value: unknown): void {
  const ordinary = { enumerable: true, configurable: true, writable: true };
  Object.defineProperty(target, key, { value, ...ordinary });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
