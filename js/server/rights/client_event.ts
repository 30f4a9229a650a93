import { invalidValue } from '../../errors/invalid.js';
import { isObject, isPlainObject } from '../../json/rules.js';
import type { NewEvent } from '../../model/event/event.js';
import { GIVEN_KEY, withoutInternal } from './public_view.js';

/** The fields that an event of a user may have. Others may be there with an empty value. */
const EVENT_FIELDS = new Set(
  'id invocationId author timestamp content actions customMetadata'.split(' '),
);
const CONTENT_FIELDS = new Set(['role', 'parts']);
const PART_FIELDS = new Set(
  'text inlineData fileData videoMetadata mediaResolution functionResponse'.split(' '),
);
const ACTION_FIELDS = new Set(['stateDelta']);

/** An answer to a call. */
export interface Answer {
  readonly id: unknown;
  readonly name: unknown;
}

/**
 * Finds what a user cannot write: an author other than the user, calls, actions besides a delta, and all fields of
 * agents. Answers to calls are not looked at; see {@link answersIn}.
 *
 * @returns the path of the first such member; `undefined` if there is none
 */
export function foreignMemberOf(event: NewEvent): string | undefined {
  if (event.author !== 'user') return 'author';
  const { content, actions } = event as { content?: unknown; actions?: unknown };
  const foreign =
    otherMember(event, EVENT_FIELDS, '') ??
    otherMember(actions, ACTION_FIELDS, 'actions.') ??
    otherMember(content, CONTENT_FIELDS, 'content.');
  if (foreign !== undefined || !isObject(content)) return foreign;
  const { role, parts } = content;
  if (role !== 'user' && !isEmpty(role)) return 'content.role';
  for (const [at, part] of listOf(parts).entries()) {
    const foreign = otherMember(part, PART_FIELDS, `content.parts[${at}].`);
    if (foreign !== undefined) return foreign;
  }
  return undefined;
}

/** Returns the answers to calls in an event. */
export function answersIn({ content }: Pick<NewEvent, 'content'>): Answer[] {
  return listOf((content as { parts?: unknown } | null | undefined)?.parts).flatMap((part) => {
    const { functionResponse } = Object(part) as { functionResponse?: Partial<Answer> | null };
    return isObject(functionResponse) ? [functionResponse as Answer & typeof functionResponse] : [];
  });
}

/**
 * Returns a copy of an event of a client with the mark that google-adk gives to such events. Internal metadata of the
 * client's own is left out.
 *
 * @throws SessionError `invalid_argument` if its metadata is not an object
 */
export function markGiven(event: NewEvent): NewEvent {
  const given: unknown = event.customMetadata ?? {};
  if (!isPlainObject(given)) throw invalidValue('event.customMetadata', 'must be an object', given);
  return { ...event, customMetadata: { ...withoutInternal(given), [GIVEN_KEY]: true } };
}

/** Returns the path of the first member besides the known ones, unless it is empty. */
function otherMember(value: unknown, known: ReadonlySet<string>, path: string): string | undefined {
  if (!isPlainObject(value)) return isEmpty(value) ? undefined : path.slice(0, -1);
  const other = Object.keys(value).find((key) => !known.has(key) && !isEmpty(value[key]));
  return other === undefined ? undefined : path + other;
}

/** Whether a value says nothing. Other languages write their empty fields. */
function isEmpty(value: unknown): boolean {
  if (isObject(value)) return Object.values(value).every(isEmpty);
  return value === undefined || value === null || value === false || value === '';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
