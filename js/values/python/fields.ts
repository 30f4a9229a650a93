/**
 * The known fields of the ADKs' sessions and events, by their place. The place tells a field's name from
 * users' data: below `stateDelta` a key is the user's, below `usageMetadata` it is the API's.
 *
 * The fields come from tables and not from a rule on letters (`a_b` ↔ `aB`). A rule would rename fields that the ADK
 * does not know, such as `my_field` in a camelCase event, and names in users' data.
 */
import { snakeName } from './names.js';
import {
  type Accepted,
  acceptedBy,
  type List,
  type Model,
  model,
  PYTHON_EVENT,
} from './python_models.js';

/**
 * The structure of a value. `'data'` is kept exactly, at every depth. Otherwise: the shapes of the known
 * members, by camelCase name. The items of a list have the shape of the list.
 */
export type Shape = 'data' | Fields;

/** See {@link Shape}. */
export interface Fields {
  readonly members: ReadonlyMap<string, Shape>;
  /** Maps snake_case names to camelCase names, for members whose two names differ. */
  readonly camelNames: ReadonlyMap<string, string>;
}

/** The fields of an event that only `@google/adk` has. */
const TYPESCRIPT_EVENT = model(
  { data: 'route isCompacted startTime endTime compactedContent isScratchpad' },
  {
    actions: model({ data: 'customMetadata' }),
    usageMetadata: model(
      { data: 'initialPromptTokenCount responseTokenCount serviceTier' },
      { responseTokensDetails: acceptedBy('list of ModalityTokenCount') },
    ),
  },
);

const SESSION_HEAD = model({ data: 'id appName userId state lastUpdateTime initialState' });

/** An event, of `@google/adk` or google-adk for Python. */
export const EVENT: Fields = fieldsOf([PYTHON_EVENT, TYPESCRIPT_EVENT]);

/** A session. */
export const SESSION: Fields = withNames(
  new Map(fieldsOf([SESSION_HEAD]).members).set('events', EVENT),
);

/** Returns the fields of an object that has the members of all models. */
function fieldsOf(models: readonly Model[]): Fields {
  const names = new Set(models.flatMap(({ members }) => [...members.keys()]));
  const members = new Map<string, Shape>();
  for (const name of names) {
    const values = models.map(({ members }) => members.get(name)?.accepted);
    const ofMember = values.flatMap((accepted) => modelOf(accepted) ?? []);
    members.set(name, ofMember.length === 0 ? 'data' : fieldsOf(ofMember));
  }
  return withNames(members);
}

/** Returns the model of a value or of the items of a list. The keys of a dictionary are users' data. */
function modelOf(accepted: Accepted | undefined): Model | undefined {
  if (typeof accepted !== 'object') return undefined;
  if (Object.hasOwn(accepted, 'list')) return modelOf((accepted as List).list);
  return Object.hasOwn(accepted, 'members') ? (accepted as Model) : undefined;
}

function withNames(members: ReadonlyMap<string, Shape>): Fields {
  const pairs = [...members.keys()].map((name): [string, string] => [snakeName(name), name]);
  return { members, camelNames: new Map(pairs.filter(([snake, camel]) => snake !== camel)) };
}
