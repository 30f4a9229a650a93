/** The schemas of all responses, in the forms of all clients, and of the request that saves a file. */
import { SESSION_ERROR_CODES } from '../../values/errors/errors.js';
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
  WHOLE,
} from '../../stores/http/schema.js';
import { FORGET } from '../rights/authorize.js';

const APP = objectOf({
  name: TEXT,
  rootAgentName: TEXT,
  description: TEXT,
  language: TEXT,
  isComputerUse: FLAG,
  agents: OBJECT,
});
const SECONDS: Schema = { type: 'number', description: 'Seconds since 1970.' };

const TIME: Schema = {
  type: 'number',
  description: 'Milliseconds since 1970. Without the header adk-session-protocol, seconds.',
};
const FACTS = { displayName: TEXT, customMetadata: OBJECT, author: TEXT };

const VERSION = objectOf(
  { version: WHOLE },
  { ...FACTS, mimeType: TEXT, canonicalUri: TEXT, size: WHOLE, hash: TEXT, createTime: TIME },
);

const ARTIFACT_RESPONSES = {
  Artifact: OBJECT,
  ArtifactNames: listOf(TEXT),
  ArtifactNumbers: listOf(WHOLE),
  ArtifactVersion: VERSION,
  ArtifactVersions: listOf(VERSION),
  ArtifactUsage: objectOf({ versions: WHOLE, bytes: WHOLE }),
} as const;

/** The body that saves a part of the ADK as a file. */
export const SAVE_ARTIFACT = objectOf(
  { filename: TEXT, artifact: OBJECT },
  { customMetadata: OBJECT, author: TEXT, id: TEXT },
);

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
