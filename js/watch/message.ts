/**
 * Encodes and decodes the messages between tabs. Another version of the package, or other code of the same
 * origin, may use the channel. So unknown messages are ignored.
 */
import { isId } from '../model/ids.js';
import { isRevision } from '../storage/checked_rows.js';
import type { PublishedNotice } from './notice.js';

/**
 * The format's version. It changes when a notice changes its meaning; new types and fields need no new
 * version.
 */
const FORMAT = 1;

export function writeMessage(notices: readonly PublishedNotice[]): unknown {
  return { format: FORMAT, notices };
}

/** Returns the valid notices of a message; unknown ones are left out. */
export function readMessage(message: unknown): PublishedNotice[] {
  if (!isRecord(message) || message.format !== FORMAT) return [];
  const { notices } = message;
  return Array.isArray(notices) ? notices.flatMap((notice) => readNotice(notice) ?? []) : [];
}

function readNotice(given: unknown): PublishedNotice | undefined {
  if (!isRecord(given)) return undefined;
  const { type, scope, appName, userId, sessionId, revision, when, message } = given;
  if (type === 'lost') {
    return typeof when === 'number' && typeof message === 'string'
      ? { type, when, message }
      : undefined;
  }
  if (!isId(appName) || !isOptional(isRevision, revision)) return undefined;
  const order = revision !== undefined && { revision };
  if (type === 'stateChanged') {
    if (scope === 'app') return { type, scope, appName, ...order };
    return scope === 'user' && isId(userId)
      ? { type, scope, appName, userId, ...order }
      : undefined;
  }
  if (!isId(userId) || !isOptional(isId, sessionId)) return undefined;
  if (type === 'deleted') {
    return { type, appName, userId, ...(sessionId !== undefined && { sessionId }), ...order };
  }
  if (type !== 'created' && type !== 'appended') return undefined;
  if (sessionId === undefined || revision === undefined) return undefined;
  return { type, appName, userId, sessionId, revision };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isOptional<T>(is: (value: unknown) => value is T, value: unknown): value is T | undefined {
  return value === undefined || is(value);
}
