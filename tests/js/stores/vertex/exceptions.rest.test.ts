// Exceptions of all foreign functions that a call awaits: the function for the access token, `fetch`, and the body of a
// response.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';

import { createEvent, isSessionError, type Session } from '../../../../js/index.js';
import type { VertexAiSessionService } from '../../../../js/service/vertex/index.js';
import { startVertexServer } from '../../../vertex_server/server.js';
import { KEY, serviceOn } from './service.js';

/** Each way in which a foreign function fails. */
const FAILURES = {
  'throws at once': () => {
    throw new Error('thrown at once');
  },
  'rejects with an error': () => Promise.reject(new TypeError('rejected')),
  'rejects with undefined': () => Promise.reject(undefined),
};

/** Counts the foreign calls of one service, and lets one of them fail. */
class ForeignCalls {
  count = 0;
  failure: { readonly at: number; readonly fail: () => unknown } | undefined;

  /** Makes the foreign call, or fails in its place. */
  run<T>(call: () => T): T {
    this.count += 1;
    return this.failure?.at === this.count ? (this.failure.fail() as T) : call();
  }
}

interface Case {
  readonly call: (service: VertexAiSessionService, session: Session) => Promise<unknown>;
  /** Repeats a call whose outcome is unknown. It must lead to the same data. */
  readonly repeat?: Case['call'];
  /** The sessions and the ids of their events, if the call has succeeded. */
  readonly expected: Stored;
}

/** For each session the ids of its events. */
type Stored = Readonly<Record<string, readonly string[]>>;

const said = (id: string) => {
  const event = createEvent({ id, author: 'user', invocationId: 'i' });
  event.actions.stateDelta = { last: id };
  return event;
};

const NEW = { ...KEY, sessionId: 'new' };

/** Every call begins with session `s1` and a handle that lacks its event `second`. */
const BEFORE: Stored = { s1: ['first', 'second'] };

const CASES: Record<string, Case> = {
  createSession: {
    call: (service) => service.createSession({ ...NEW, state: { a: 1 } }),
    repeat: (service) => service.getOrCreateSession({ ...NEW, state: { a: 1 } }),
    expected: { ...BEFORE, new: [] },
  },
  getOrCreateSession: {
    call: (service) => service.getOrCreateSession(NEW),
    expected: { ...BEFORE, new: [] },
  },
  getSession: { call: (service) => service.getSession(KEY), expected: BEFORE },
  listSessions: {
    call: (service) => service.listSessions({ appName: KEY.appName, userId: KEY.userId }),
    expected: BEFORE,
  },
  appendEvent: {
    call: (service, session) => service.appendEvent({ session, event: said('third') }),
    expected: { s1: ['first', 'second', 'third'] },
  },
  deleteSession: { call: (service) => service.deleteSession(KEY), expected: {} },
};

async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return error ?? new Error('the call rejected with nothing');
  }
}

async function stored(service: VertexAiSessionService): Promise<Stored> {
  const ids: Record<string, string[]> = {};
  const { appName, userId } = KEY;
  const { sessions } = await service.listSessions({ appName, userId });
  for (const { id: sessionId } of sessions) {
    const session = await service.getSession({ ...KEY, sessionId });
    ids[sessionId] = session?.events.map(({ id }) => id) ?? [];
  }
  return ids;
}

describe('a call at Vertex AI, if a foreign function fails', () => {
  const { fetch } = globalThis;
  const callsOf = new Map<string, ForeignCalls>();
  before(() => {
    globalThis.fetch = (input, init) => {
      const token = new Headers(init?.headers).get('authorization')?.slice('Bearer '.length) ?? '';
      const calls = callsOf.get(token);
      if (calls === undefined) return fetch(input, init);
      return calls.run(async () => {
        const response = await fetch(input, init);
        const text = response.text.bind(response);
        response.text = () => calls.run(text);
        return response;
      });
    };
  });
  after(() => {
    globalThis.fetch = fetch;
  });

  /** Runs a call on a new server. @returns the number of its foreign calls */
  async function run(
    name: string,
    { call, repeat = call, expected }: Case,
    failure?: ForeignCalls['failure'],
  ): Promise<number> {
    const server = await startVertexServer();
    const calls = new ForeignCalls();
    const token = `token-${callsOf.size}`;
    callsOf.set(token, calls);
    const service = serviceOn(server, { accessToken: () => calls.run(() => token) });
    const other = serviceOn(server);
    try {
      const session = await service.createSession({ ...KEY, state: { topic: 'tea' } });
      await service.appendEvent({ session, event: said('first') });
      const handle = await other.getSession(KEY);
      assert.ok(handle);
      await other.appendEvent({ session: handle, event: said('second') });
      calls.count = 0;
      calls.failure = failure;
      const error = await outcome(call(service, session));
      const { count } = calls;
      calls.failure = undefined;
      if (error !== undefined) {
        assert.ok(failure, inspect(error));
        if (isSessionError(error, 'storage_unavailable')) {
          assert.deepEqual(await stored(other), BEFORE, 'nothing was written');
        } else {
          assert.ok(isSessionError(error, 'connection_lost'), inspect(error));
        }
        await repeat(service, session);
      }
      assert.deepEqual(await stored(other), expected);
      const next = await service.getOrCreateSession(KEY);
      await service.appendEvent({ session: next, event: said('next') });
      assert.deepEqual((await stored(other)).s1, [...(expected.s1 ?? []), 'next']);
      return count;
    } finally {
      await Promise.all([service.close(), other.close()]);
      await server.end();
    }
  }

  for (const [name, theCase] of Object.entries(CASES)) {
    for (const [how, fail] of Object.entries(FAILURES)) {
      it(`${name} writes once or says so, if any of them ${how}`, async () => {
        const count = await run(name, theCase);
        assert.ok(count >= 3, `${name} makes ${count} foreign calls`);
        const runs = Array.from({ length: count }, (_, index) => ({ at: index + 1, fail }));
        await Promise.all(runs.map((failure) => run(name, theCase, failure)));
      });
    }
  }
});
