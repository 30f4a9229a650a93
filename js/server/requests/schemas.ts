/** The schemas of all responses, in the forms of all clients. */
import { SESSION_ERROR_CODES } from '../../values/errors/errors.js';
import { ARTIFACT_RESPONSES } from './artifact_schemas.js';
import { RESPONSES } from '../../stores/http/messages.js';
import {
  FLAG,
  listOf,
  OBJECT,
  objectOf,
  oneOf,
  ref,
  type Schema,
  TEXT,
} from '../../stores/http/schema.js';
import { FORGET } from '../rights/authorize.js';

const APP = objectOf({
  ...{ name: TEXT, rootAgentName: TEXT, description: TEXT, language: TEXT },
  ...{ isComputerUse: FLAG, agents: OBJECT },
});
const SECONDS: Schema = { type: 'number', description: 'Seconds since 1970.' };

function withMembers(schema: Schema, members: Readonly<Record<string, Schema>>): Schema {
  const description = 'With the header adk-session-protocol the times are milliseconds.';
  return { ...schema, properties: { ...schema.properties, ...members }, description };
}

/** By the names in the routes. Those with `Adk` have the form of `adk api_server`. */
export const SCHEMAS = {
  ...RESPONSES,
  ...ARTIFACT_RESPONSES,
  App: APP,
  /** The names alone, or with `detailed=true` an object. */
  Apps: { anyOf: [listOf(TEXT), objectOf({ apps: listOf(APP) })] },
  AdkEvent: withMembers(RESPONSES.Event, { timestamp: SECONDS }),
  AdkSession: withMembers(RESPONSES.Session, {
    events: listOf(ref('AdkEvent')),
    lastUpdateTime: SECONDS,
  }),
  AdkSessions: listOf(ref('AdkSession')),
  AdkEvents: listOf(ref('AdkEvent')),
  AdkRunEvents: {
    type: 'string',
    description:
      'Server-sent events; the data of each is an event as JSON, or `{error, error_details}` at the end of a run that failed.',
  },
  Notices: {
    type: 'string',
    description: 'Server-sent events; the data of each is a notice as JSON.',
  },
  Error: objectOf({ detail: TEXT }, { code: oneOf([...SESSION_ERROR_CODES, FORGET]) }),
} as const satisfies Readonly<Record<string, Schema>>;

/** The name of a response's schema. */
export type ResponseName = keyof typeof SCHEMAS;
