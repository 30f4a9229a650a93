import { invalidValue } from '../../values/errors/invalid.js';
import { isObject, isPlainObject } from '../../values/json/rules.js';
import type { NewEvent } from '../../values/model/event/event.js';
import { MESSAGE_FILES } from '../../values/model/event/message_files.js';
import { GIVEN_KEY, withoutInternal } from './public_view.js';

/**
 * Decodes a member of an event.
 *
 * @returns the path of what a user cannot write; `undefined` if there is nothing
 */
type Decoder = (value: unknown, path: string) => string | undefined;

/** The service checks the value itself, whoever wrote it. */
const CHECKED_BY_SERVICE: Decoder = () => undefined;

/** A member that only agents write. Other languages write its default: Python `null`, `false`, `""`, `[]` or `{}`. */
const DEFAULT: Decoder = (value, path) => (isDefault(value) ? undefined : path);

const TEXT = valueOf((value) => typeof value === 'string');
const NUMBER = valueOf((value) => typeof value === 'number');
const FLAG = valueOf((value) => typeof value === 'boolean');
const DATA = valueOf(isPlainObject);

const FILE = { mimeType: TEXT, displayName: TEXT };
const INLINE_DATA = objectOf({ ...FILE, data: TEXT });
const FILE_DATA = objectOf({ ...FILE, fileUri: TEXT });

/** What a user may write: the names and types of members. All others must have their default. */
const EVENT = objectOf({
  id: CHECKED_BY_SERVICE,
  invocationId: TEXT,
  author: TEXT,
  timestamp: CHECKED_BY_SERVICE,
  content: objectOf({
    role: valueOf((value) => value === 'user' || value === ''),
    parts: listOf(
      objectOf({
        text: TEXT,
        inlineData: INLINE_DATA,
        fileData: FILE_DATA,
        videoMetadata: objectOf({ startOffset: TEXT, endOffset: TEXT, fps: NUMBER }),
        mediaResolution: valueOf((value) => typeof value === 'string' || isPlainObject(value)),
        functionResponse: objectOf({
          id: TEXT,
          name: TEXT,
          response: DATA,
          willContinue: FLAG,
          scheduling: TEXT,
          parts: listOf(objectOf({ inlineData: INLINE_DATA, fileData: FILE_DATA })),
        }),
      }),
    ),
  }),
  actions: objectOf({ stateDelta: CHECKED_BY_SERVICE }),
  customMetadata: CHECKED_BY_SERVICE,
  nodeInfo: objectOf({}),
});

/** An answer to a call. */
export interface Answer {
  readonly id: unknown;
  readonly name: unknown;
}

/**
 * Finds what a user cannot write: an author other than the user, calls, actions besides a delta, all fields of agents,
 * and values of another type. Whether an answer belongs to an open call is not looked at; see {@link answersIn}.
 *
 * @returns the path of the first such member; `undefined` if there is none
 */
export function foreignMemberOf(event: NewEvent): string | undefined {
  return event.author === 'user' ? EVENT(event, '') : 'author';
}

/** Returns the answers to calls in an event. */
export function answersIn({ content }: Pick<NewEvent, 'content'>): Answer[] {
  const parts: unknown = (content as { parts?: unknown } | null | undefined)?.parts;
  return (Array.isArray(parts) ? parts : []).flatMap((part: unknown) => {
    const { functionResponse } = Object(part) as { functionResponse?: Partial<Answer> | null };
    return isObject(functionResponse) ? [functionResponse as Answer & typeof functionResponse] : [];
  });
}

/**
 * Returns a copy of an event of a client with the mark that google-adk gives to such events. Internal metadata of the
 * client's own, and those of files, are left out.
 *
 * @throws SessionError `invalid_argument` if its metadata is not an object
 */
export function markGiven(event: NewEvent): NewEvent {
  const given: unknown = event.customMetadata ?? {};
  if (!isPlainObject(given)) throw invalidValue('event.customMetadata', 'must be an object', given);
  const customMetadata = { ...withoutInternal(given), [GIVEN_KEY]: true };
  Reflect.deleteProperty(customMetadata, MESSAGE_FILES);
  return { ...event, customMetadata };
}

/** An absent value and `null` count as a default. */
function valueOf(isOfType: (value: unknown) => boolean): Decoder {
  return (value, path) => (isAbsent(value) || isOfType(value) ? undefined : path);
}

function listOf(item: Decoder): Decoder {
  return (value, path) => {
    if (isAbsent(value)) return undefined;
    if (!Array.isArray(value)) return path;
    for (const [at, each] of value.entries()) {
      const foreign = isPlainObject(each) ? item(each, `${path}[${at}]`) : `${path}[${at}]`;
      if (foreign !== undefined) return foreign;
    }
    return undefined;
  };
}

function objectOf(members: Readonly<Record<string, Decoder>>): Decoder {
  const known = new Map(Object.entries(members));
  return (value, path) => {
    if (isAbsent(value)) return undefined;
    if (!isPlainObject(value)) return path;
    for (const [name, member] of Object.entries(value)) {
      const decode = known.get(name) ?? DEFAULT;
      const foreign = decode(member, path === '' ? name : `${path}.${name}`);
      if (foreign !== undefined) return foreign;
    }
    return undefined;
  };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isDefault(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return isAbsent(value) || value === false || value === '';
}
