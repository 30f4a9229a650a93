// The same requests to the real `adk api_server` and to our handler.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { serve } from '../../js/server/fixture.js';
import { type ApiServer, startApiServer } from './api_server.js';
import { sqliteFiles } from '../database/shared_databases.js';

const SESSIONS = '/apps/shop/users/ada/sessions';

interface Seen {
  readonly status: number;
  readonly body: unknown;
}

type Session = Record<string, unknown> & { events?: Record<string, unknown>[] };

/** Requests in order, each with what differs on purpose. */
const REQUESTS: readonly {
  readonly what: string;
  readonly path: string;
  readonly method?: string;
  readonly body?: unknown;
}[] = [
  {
    what: 'creates a session with an id',
    path: SESSIONS,
    body: { sessionId: 's1', state: { k: 1, 'app:a': 'A', 'user:u': 'U', 'temp:t': 'T', n: null } },
  },
  {
    what: 'creates a session by members in snake_case, of which a name in camelCase is preferred',
    path: SESSIONS,
    body: { session_id: 's8', sessionId: 's3', state: { my_key: 1 } },
  },
  {
    what: 'changes state by a member in snake_case',
    path: `${SESSIONS}/s3`,
    method: 'PATCH',
    body: { state_delta: { my_key: 2 } },
  },
  { what: 'refuses an id that is taken', path: SESSIONS, body: { sessionId: 's1' } },
  { what: 'creates a session with an empty body', path: SESSIONS, method: 'POST' },
  { what: 'creates a session in the older form', path: `${SESSIONS}/s2`, body: { topic: 'tea' } },
  { what: 'returns a session', path: `${SESSIONS}/s1` },
  { what: 'has no other session', path: `${SESSIONS}/none` },
  {
    what: 'changes state by an event',
    path: `${SESSIONS}/s1`,
    method: 'PATCH',
    body: { stateDelta: { k: 2, 'user:u': 'V' } },
  },
  { what: 'returns the session with that event', path: `${SESSIONS}/s1` },
  { what: 'lists sessions', path: SESSIONS },
  { what: 'lists no sessions of another user', path: '/apps/shop/users/bob/sessions' },
  { what: 'deletes a session', path: `${SESSIONS}/s1`, method: 'DELETE' },
  { what: 'deletes it again', path: `${SESSIONS}/s1`, method: 'DELETE' },
  { what: 'has it no longer', path: `${SESSIONS}/s1` },
];

/** Leaves out what is different each time, and the members of events that only Python writes. */
function comparable({ status, body }: Seen): unknown {
  if (Array.isArray(body)) {
    const sessions = body.map((session) => withoutTimes(session as Session));
    // Two were created at the same moment.
    return { status, body: sessions.sort((one, other) => (one.id < other.id ? -1 : 1)) };
  }
  if (status !== 200 || body === null) return { status };
  return { status, body: withoutTimes(body as Session) };
}

function withoutTimes({ lastUpdateTime, id, events = [], ...session }: Session) {
  assert.equal(typeof lastUpdateTime, 'number');
  return {
    ...session,
    id: /^s\d$/.test(String(id)) ? String(id) : 'made',
    events: events.map(({ author, actions }) => {
      return { author, stateDelta: (actions as { stateDelta: unknown }).stateDelta };
    }),
  };
}

describe('The session handler', { timeout: 120_000 }, () => {
  const newDatabase = sqliteFiles();
  const { ask } = serve();
  let server: ApiServer;

  before(async () => {
    server = await startApiServer((await newDatabase()).python);
  });
  after(() => server.end());

  for (const { what, path, ...asked } of REQUESTS) {
    it(`${what} as adk api_server does`, async () => {
      const theirs = await server.ask(path, asked);
      const ours = await ask(path, asked);
      assert.deepEqual(comparable(ours), comparable(theirs));
    });
  }
});
