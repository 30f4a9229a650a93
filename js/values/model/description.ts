/** The title, the labels and the parent of a session: what is allowed, and how they are stored. */
import { SessionError } from '../errors/errors.js';
import { invalid, invalidValue } from '../errors/invalid.js';
import { isPlainObject, type JsonObject } from '../json/rules.js';
import { isWellFormed } from '../json/text.js';
import type { Session, SessionChanges, SessionParent } from './session.js';
import { requireId } from './values/ids.js';
import { parseJson } from '../json/parse.js';

/**
 * A title, labels and a parent as they are stored, or a change of them: an absent member stays as it is, and an empty
 * text removes it.
 */
export interface Description {
  readonly title?: string | undefined;
  /** The JSON text of an object. */
  readonly labels?: string | undefined;
  /** The JSON text of a {@link SessionParent}. Only a new session gets one. */
  readonly parent?: string | undefined;
  /** The JSON text of a new session's own state. In a write it may have shared keys and removals too: `ownStateText`. */
  readonly initialState?: string | undefined;
  /** Only on Vertex AI. */
  readonly expiry?: Expiry | undefined;
}

/** When a session of Vertex AI expires: one of both. */
export interface Expiry {
  /** The seconds until the session expires, as text that ends in `s`. At least `'86400s'`, a day. */
  ttl?: string | undefined;
  /** The time at which the session expires, as in `'2030-01-31T12:00:00Z'`. */
  expireTime?: string | undefined;
}

/** The limits are those of Vertex AI. */
const MAX_TITLE = 128;
const MAX_LABELS = 64;
const LABEL_KEY = /^[\p{Ll}\p{Lo}\p{N}_-]{1,64}$/u;
const LABEL_VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,64}$/u;

/**
 * Takes the title and the labels of a request. `null` removes one.
 *
 * @throws SessionError `invalid_argument` if one is past its limits
 */
export function takeDescription({ title, labels }: SessionChanges): Description {
  return {
    title: takeText(title, requireTitle),
    labels: takeText(labels, labelsText),
  };
}

/**
 * Takes the parent of a request.
 *
 * @throws SessionError `invalid_argument` if an id is not valid
 */
export function takeParent(parent: unknown): string | undefined {
  if (parent === undefined || parent === null) return undefined;
  if (!isPlainObject(parent)) throw invalidValue('parent', 'must be an object', parent);
  const { sessionId, eventId } = parent;
  const taken: SessionParent = { sessionId: requireId('parent.sessionId', sessionId) };
  if (eventId !== undefined) taken.eventId = requireId('parent.eventId', eventId);
  return JSON.stringify(taken);
}

/**
 * Takes the expiry of a request. The storage checks it.
 *
 * @param expires whether the storage lets sessions expire
 * @throws SessionError `unsupported` if it does not
 */
export function takeExpiry({ ttl, expireTime }: Expiry, expires: boolean): Expiry | undefined {
  if (ttl === undefined && expireTime === undefined) return undefined;
  if (expires) return { ttl, expireTime };
  throw new SessionError(
    'unsupported',
    'Only sessions on Vertex AI expire; leave out ttl and expireTime.',
  );
}

function takeText(value: unknown, take: (value: unknown) => string): string | undefined {
  if (value === undefined) return undefined;
  return value === null ? '' : take(value);
}

function requireTitle(title: unknown): string {
  if (typeof title !== 'string') throw invalidValue('title', 'must be a string', title);
  const { length } = [...title];
  if (length >= 1 && length <= MAX_TITLE && isWellFormed(title) && !/\p{Cc}/u.test(title)) {
    return title;
  }
  throw invalid(
    'title',
    `must be well-formed text of 1 to ${MAX_TITLE} characters without control characters; it has ${length}`,
  );
}

function labelsText(labels: unknown): string {
  if (!isPlainObject(labels)) {
    throw invalidValue('labels', 'must be an object', labels);
  }
  const entries = Object.entries(labels);
  if (entries.length > MAX_LABELS) {
    throw invalid('labels', `may be at most ${MAX_LABELS}; there are ${entries.length}`);
  }
  for (const [key, value] of entries) {
    const allowed = '64 lower-case letters, digits, _ and -';
    if (!LABEL_KEY.test(key)) throw invalid(`labels.${key}`, `must have a key of 1 to ${allowed}`);
    if (typeof value === 'string' && LABEL_VALUE.test(value)) continue;
    throw invalidValue(`labels.${key}`, `must be text of at most ${allowed}`, value);
  }
  if (entries.length === 0) return '';
  return JSON.stringify(
    Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1))),
  );
}

/** Sets the title, the labels and the parent, where there are any. A damaged one counts as absent. */
export function setDescription<Target extends Pick<Session, 'title' | 'labels' | 'parent'>>(
  session: Target,
  { title, labels, parent }: Readonly<Partial<Record<'title' | 'labels' | 'parent', unknown>>>,
): Target {
  if (typeof title === 'string' && title !== '') session.title = title;
  if (labels !== undefined) {
    const parsed = parseLabels(labels);
    if (Object.keys(parsed).length > 0) session.labels = parsed;
  }
  if (parent !== undefined) {
    const { sessionId, eventId } = parseObject(parent);
    if (typeof sessionId === 'string') {
      session.parent = { sessionId, ...(typeof eventId === 'string' && { eventId }) };
    }
  }
  return session;
}

/** Parses stored labels. Damaged ones count as none, since labels are no part of a conversation. */
export function parseLabels(labels: unknown): Record<string, string> {
  return parseObject(labels) as Record<string, string>;
}

/** Parses the JSON text of an object. A damaged text counts as an empty object. */
function parseObject(text: unknown): JsonObject {
  if (typeof text !== 'string' || text === '') return {};
  try {
    const parsed: unknown = parseJson(text);
    return isPlainObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
