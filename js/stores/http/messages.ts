/**
 * The schemas of the handler's responses in our own form. Our client checks them, and the OpenAPI document has them.
 */
import { MAX_TIMESTAMP } from '../../values/model/values/time.js';
import { SHARED_SCOPES } from '../../values/state/scope.js';
import {
  FLAG,
  JSON_TEXT,
  LABELS,
  listOf,
  mismatchFinder,
  OBJECT,
  objectOf,
  ref,
  type Schema,
  TEXT,
  WHOLE,
} from './schema.js';

const MILLISECONDS: Schema = {
  type: 'number',
  minimum: 0,
  maximum: MAX_TIMESTAMP,
  description: 'Milliseconds since 1970.',
};

export const PARENT = objectOf({ sessionId: TEXT }, { eventId: TEXT });

/** Where the rewinds among a part of the events start: one whose `eventId` is not among these may be older. */
const REWIND_STARTS = listOf(objectOf({ invocationId: TEXT }, { eventId: TEXT }));
const EVENT_PLACE = { seq: WHOLE, revision: WHOLE };

/** The schemas of responses, by the names in the routes. */
export const RESPONSES = {
  Event: objectOf(
    { id: TEXT, timestamp: { type: 'number', description: 'Milliseconds since 1970.' } },
    { author: TEXT, invocationId: TEXT, content: OBJECT, actions: OBJECT },
  ),
  Labels: LABELS,
  Session: objectOf(
    {
      id: TEXT,
      appName: TEXT,
      userId: TEXT,
      state: OBJECT,
      events: listOf(ref('Event')),
      lastUpdateTime: MILLISECONDS,
    },
    {
      title: TEXT,
      labels: ref('Labels'),
      parent: PARENT,
      summarised: listOf(TEXT),
      rewindStarts: REWIND_STARTS,
    },
  ),
  Rewound: objectOf(
    { revision: WHOLE, isNew: FLAG, event: ref('Event'), unknownKeys: listOf(TEXT) },
    { message: ref('Event') },
  ),
  Branches: objectOf(
    {
      places: listOf(
        objectOf(
          {
            alternatives: listOf(objectOf({ invocationId: TEXT, isShown: FLAG }, { branch: TEXT })),
          },
          { after: TEXT },
        ),
      ),
    },
    { lastRewind: TEXT },
  ),
  StateAt: objectOf({ state: OBJECT, unknownKeys: listOf(TEXT) }),
  SessionInfo: objectOf(
    {
      lastUpdateTime: MILLISECONDS,
      eventCount: WHOLE,
      bytes: WHOLE,
      usage: { type: 'object', additionalProperties: OBJECT },
    },
    {
      createTime: MILLISECONDS,
      title: TEXT,
      labels: ref('Labels'),
      parent: PARENT,
      initialState: OBJECT,
    },
  ),
  SessionsPage: objectOf(
    {
      sessions: listOf(ref('Session')),
      revisions: listOf(objectOf({}, { created: WHOLE, revision: WHOLE })),
      page: WHOLE,
      limit: WHOLE,
    },
    { totalItems: WHOLE, totalPages: WHOLE, nextCursor: TEXT },
  ),
  EventsPage: objectOf(
    { created: WHOLE },
    {
      revision: WHOLE,
      events: listOf(ref('Event')),
      hasOlder: FLAG,
      firstId: TEXT,
      lastId: TEXT,
      eventCount: WHOLE,
      createTime: MILLISECONDS,
      lastUpdateTime: MILLISECONDS,
      initialState: JSON_TEXT,
      title: TEXT,
      labels: JSON_TEXT,
      parent: JSON_TEXT,
      summarised: listOf(TEXT),
      rewindStarts: REWIND_STARTS,
    },
  ),
  StoredEvent: objectOf({ ...EVENT_PLACE, event: ref('Event') }),
  StoredEvents: objectOf({
    created: WHOLE,
    revision: WHOLE,
    events: listOf(ref('StoredEvent')),
  }),
  ChangesSince: objectOf(
    { created: WHOLE, revision: WHOLE, lastUpdateTime: MILLISECONDS, isRecreated: FLAG },
    {
      title: TEXT,
      labels: ref('Labels'),
      events: listOf(ref('StoredEvent')),
      state: OBJECT,
      rewindStarts: REWIND_STARTS,
    },
  ),
  Appended: objectOf(
    {
      created: WHOLE,
      revision: WHOLE,
      lastUpdateTime: MILLISECONDS,
      shared: objectOf(Object.fromEntries(SHARED_SCOPES.map((scope) => [scope, WHOLE]))),
      unchanged: listOf(objectOf({ position: WHOLE, revision: WHOLE })),
      missed: listOf(objectOf({ ...EVENT_PLACE, text: JSON_TEXT })),
      eventRevisions: listOf(objectOf(EVENT_PLACE)),
    },
    {
      since: WHOLE,
      state: JSON_TEXT,
      texts: listOf(objectOf({ position: WHOLE, text: JSON_TEXT })),
      filled: listOf(objectOf({ id: TEXT, timestamp: MILLISECONDS })),
    },
  ),
  FindResult: objectOf(
    {
      hits: listOf(
        objectOf(
          { sessionId: TEXT, snippet: listOf(objectOf({ text: TEXT, isHit: FLAG })) },
          { title: TEXT, eventId: TEXT, author: TEXT, timestamp: MILLISECONDS },
        ),
      ),
      isComplete: FLAG,
    },
    { nextCursor: TEXT },
  ),
  Deleted: objectOf({ deleted: WHOLE }),
  Whether: FLAG,
  Cancelled: objectOf({ cancelled: FLAG }),
  State: OBJECT,
  Nothing: { type: 'null' },
} as const satisfies Readonly<Record<string, Schema>>;

/** The name of a response's schema. */
export type ResponseName = keyof typeof RESPONSES;

/**
 * Returns where a message breaks its schema. Events and labels need only be objects: a service stores events whose
 * `author` is no text, and a damaged one makes no session unreadable.
 */
export const mismatchIn = mismatchFinder({ ...RESPONSES, Event: OBJECT, Labels: OBJECT });
