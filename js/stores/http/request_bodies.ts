/** The schemas of the bodies of requests. The handler checks them, and the OpenAPI document has them. */
import type { AskedRun } from '../../values/model/asked_run.js';
import type { AppendMember, CreationMember } from './member_names.js';
import { PARENT } from './messages.js';
import {
  FLAG,
  LABELS,
  listOf,
  OBJECT,
  objectOf,
  oneOf,
  orNull,
  type Schema,
  TEXT,
  WHOLE,
} from './schema.js';

const DESCRIPTION = { title: orNull(TEXT), labels: orNull(LABELS) };
/** A place in a history. */
const PLACE = objectOf({}, { eventId: TEXT, invocationId: TEXT });
/** Asks for a run. */
const RUN: Schema = {
  ...objectOf({}, { streaming: FLAG } satisfies Record<keyof AskedRun, Schema>),
  additionalProperties: false,
};
/** A text counts as content with one part. */
const CONTENT: Schema = { type: ['object', 'string'] };
const NEW_EVENTS = listOf(OBJECT);
/** The files of messages, which the user has put. `event` is an index of `events`; absent: 0. */
const FILES = listOf(objectOf({ part: WHOLE, name: TEXT, version: WHOLE }, { event: WHOLE }));

/** Its events and its time have the form of the client. */
export const CREATION = objectOf({}, {
  sessionId: TEXT,
  state: OBJECT,
  events: NEW_EVENTS,
  ...DESCRIPTION,
  parent: PARENT,
  stateDelta: OBJECT,
  lastUpdateTime: { type: 'number' },
  sharedState: oneOf(['apply', 'keep']),
  initialState: oneOf(['unknown']),
} satisfies Record<CreationMember, Schema>);
export const STATE_CHANGE = objectOf({ stateDelta: OBJECT });
export const GET_OR_CREATE = objectOf({}, { state: OBJECT });
export const DESCRIBE = objectOf({}, DESCRIPTION);
export const DELETE_UNCHANGED = objectOf({ revision: WHOLE }, { labels: LABELS });
export const ADD_TO_MEMORY = objectOf({ sessionId: TEXT });
export const EVENT_IDS = objectOf({ eventIds: listOf(TEXT) });
export const APPEND = objectOf({ events: NEW_EVENTS }, {
  // What the client's handle has: a revision of the session, or the last event of a handle from elsewhere.
  position: objectOf({}, { created: WHOLE, revision: WHOLE, lastEventId: TEXT }),
  stale: oneOf(['merge', 'append', 'reject']),
  runRevision: WHOLE,
  expectedRevision: WHOLE,
  expectedEvents: { type: 'object', additionalProperties: orNull(WHOLE) },
  firstTitle: TEXT,
  run: RUN,
  files: FILES,
} satisfies Record<Exclude<AppendMember, 'events'>, Schema>);
const IDS = { id: TEXT, invocationId: TEXT };
export const REWIND = objectOf(
  { place: objectOf({}, { before: PLACE, undo: TEXT, branch: TEXT, turn: TEXT }) },
  {
    marker: objectOf(IDS),
    message: objectOf(IDS, { content: CONTENT }),
    events: NEW_EVENTS,
    run: RUN,
    files: FILES,
  },
);
export const FORK = objectOf({}, { newSessionId: TEXT, at: PLACE, before: PLACE, title: TEXT });

/** The body of a request of `adk api_server` that runs an agent. */
export const RUN_AGENT = objectOf(
  { appName: TEXT, userId: TEXT, sessionId: TEXT },
  {
    newMessage: CONTENT,
    streaming: FLAG,
    stateDelta: OBJECT,
    customMetadata: OBJECT,
    functionCallEventId: TEXT,
    invocationId: TEXT,
    serviceTier: TEXT,
  },
);
