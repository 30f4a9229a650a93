// The conformance suite over the loopback server, in both ways that the real one may treat the states of users and apps.
//
// The cases are changed where the service promises less: `lastUpdateTime` is the server's, and a state without a session
// is read through one of the sessions. Cases that only test such promises, or features that the server lacks, are listed
// below with their outcome.

import { after } from 'node:test';

import {
  startVertexServer,
  type VertexServer,
  type VertexServerOptions,
} from '../../../vertex_server/server.js';
import { conforms as declare, type Expectations } from '../../conforms.js';
import {
  OF_OTHER_USERS,
  VERTEX_CASES,
  WITH_EQUAL_IDS,
  WITH_OTHER_IDS,
  WITH_SHARED_STATES,
} from './cases.js';
import { serviceOn } from './service.js';

export const ALWAYS: Expectations = [
  [
    /createSession ended with already_exists/,
    ...WITH_EQUAL_IDS,
    "deleting an app's state keeps its users and sessions",
  ],
  ...OF_OTHER_USERS,
  [/createSession ended with (?:invalid_argument|remote)/, ...WITH_OTHER_IDS],
  [
    // Only sessions have states.
    /ended with unsupported/,
    ...WITH_SHARED_STATES,
    'an updateState with an empty delta creates nothing',
    'count: a function of a session is stored as an event by the user',
    'count: a function that changes nothing or fails writes nothing',
    'count: keys of scopes that are not named, and a missing session, are refused',
  ],
  [
    // A session's time is when the server last changed it.
    /listSessions: .sessions is .* but should be/,
    'sessions are listed by last update, oldest first',
    'an update of a session keeps its place in lists',
    'an append moves its session in the list, to the position of its time',
    'descending order is the reverse of ascending order, ties included',
  ],
  [
    // A key that was removed is null there, and so one that is null was removed.
    /has no key "(?:a|null)", but should/,
    'null is a value, not a removal',
    'empty and simple values are returned unchanged',
  ],
  [
    // The server does not count events.
    /listEvents: .eventCount is null, but should be 0/,
    'a page of events counts all events of the session',
  ],
  [
    // The server has no place for it.
    /sessionInfo: .initialState is null, but should be/,
    'the info of a session keeps the own state that it was created with',
    'the initial state of a session created with events has none of their deltas',
    'the initial state of a session that comes with events is not known without a state',
  ],
  [
    // Labels of Vertex AI have no capital letters and at most 64 characters, so they cannot hold every id.
    /getSession: .parent is null, but should be/,
    'a session keeps where it was forked from, whatever is written later',
  ],
  [
    // Objects of protobuf.
    /getSession: .(?:keys|state\["nested"\]) is .* but should be/,
    'state keys that JavaScript objects inherit are ordinary keys',
    'a changed key keeps its position, and a removed key returns last',
    'the order of members is kept at every level',
  ],
];

/** The cases wait for operations and HTTP, so they run beside each other. */
export function conforms(serverOptions: VertexServerOptions, expectations: Expectations): void {
  const servers: VertexServer[] = [];
  after(() => Promise.all(servers.map((server) => server.end())));
  declare(
    `The conformance suite at Vertex AI, on a server with ${JSON.stringify(serverOptions)}`,
    async (options) => {
      const { clock = Date.now } = options;
      const server = await startVertexServer({ ...serverOptions, clock });
      servers.push(server);
      return serviceOn(server, options);
    },
    { expectations, cases: VERTEX_CASES, concurrency: 8 },
  );
}
