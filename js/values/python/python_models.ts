/**
 * The fields and values that google-adk for Python accepts in an event: its pydantic models, and what only their
 * validators know.
 *
 * Most models forbid unknown fields, and one refused field makes the whole session unreadable in Python. So
 * these models decide what is written for Python. They name only values that Python accepts unchanged: pydantic
 * also accepts `"12"` as a number, which we leave out.
 */

import { snakeName, words } from './names.js';
import { PYDANTIC_MODELS } from './pydantic_models.js';

/**
 * A value that has no fields of the ADK:
 *
 * - `text` (also for enums, since Python accepts any value of them), `flag`, `integer`, `float`
 * - `count`: an integer from 0 · `time`: a float, which our events have in milliseconds and Python in seconds
 * - `bytes`: text in base64
 * - `null value`: the text `NULL_VALUE`
 * - `data`: any JSON · `record`: an object of any JSON · `delta`: a `record` whose values may be removals
 * - `route`: a flag, an integer, a text, or a list of those
 * - `auth config`: see `python_auth.ts`
 */
export type Leaf =
  | 'text'
  | 'flag'
  | 'integer'
  | 'count'
  | 'float'
  | 'time'
  | 'bytes'
  | 'null value'
  | 'data'
  | 'record'
  | 'delta'
  | 'route'
  | 'auth config';

/** A list of values of one kind. */
export interface List {
  readonly list: Accepted;
}

/** An object with any keys, and values of one kind. */
export interface Dictionary {
  readonly values: Accepted;
}

/** An object with fields. */
export interface Model {
  /** The members by camelCase name. */
  readonly members: ReadonlyMap<string, Field>;
  /** snake_case names of the members that Python requires. */
  readonly required: readonly string[];
  /** snake_case names of members that must all be present or all be absent. */
  readonly requiredTogether: readonly string[];
}

/** A member of a {@link Model}. */
export interface Field {
  readonly snakeName: string;
  readonly accepted: Accepted;
}

/** The values that Python accepts in one place. */
export type Accepted = Leaf | List | Dictionary | Model;

/**
 * What stands before names of fields: a {@link Leaf}, the name of one of the {@link PYDANTIC_MODELS}, `list of` one of
 * these or `values of` one of these.
 */
type FieldsByTerm = Readonly<Record<string, string>>;

/** What our events have in another form than Python's, or what Python's validators refuse. */
const CORRECTIONS: Readonly<Record<string, FieldsByTerm>> = {
  Event: { time: 'timestamp' },
  EventCompaction: { time: 'startTimestamp endTimestamp' },
  EventActions: { delta: 'stateDelta', 'values of auth config': 'requestedAuthConfigs' },
  CacheMetadata: { requiredTogether: 'cacheName expireTime invocationsUsed' },
};

/** Makes a model of names of fields, separated by spaces, and of what they accept. */
export function model(
  { required = '', requiredTogether = '', ...namesByTerm }: FieldsByTerm,
  members: Readonly<Record<string, Accepted>> = {},
): Model {
  const acceptedByName = new Map(Object.entries(members));
  for (const [term, names] of Object.entries(namesByTerm)) {
    for (const name of words(names)) acceptedByName.set(name, acceptedBy(term));
  }
  return {
    members: new Map(
      [...acceptedByName].map(([name, accepted]) => [
        name,
        { snakeName: snakeName(name), accepted },
      ]),
    ),
    required: words(required).map(snakeName),
    requiredTogether: words(requiredTogether).map(snakeName),
  };
}

const models = new Map<string, Model>();

/** Returns what a term of {@link FieldsByTerm} stands for. */
export function acceptedBy(term: string): Accepted {
  const [, container, inner = ''] = /^(list|values) of (.*)$/.exec(term) ?? [];
  if (container === 'list') return { list: acceptedBy(inner) };
  if (container === 'values') return { values: acceptedBy(inner) };
  const fields = (PYDANTIC_MODELS as Readonly<Record<string, FieldsByTerm>>)[term];
  if (fields === undefined) return term as Leaf;
  let made = models.get(term);
  // A correction comes last, so it wins.
  if (made === undefined) models.set(term, (made = model({ ...fields, ...CORRECTIONS[term] })));
  return made;
}

/** An event. */
export const PYTHON_EVENT = acceptedBy('Event') as Model;
