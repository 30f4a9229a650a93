// A cache over memory, with a remote that can be cut off.

import { afterEach } from 'node:test';

import {
  createEvent,
  createEventActions,
  InMemorySessionService,
  isSessionError,
  SessionError,
} from '../../../../js/index.js';
import {
  type CachedSessionOptions,
  CachedSessionService,
  type LocalStore,
  MemoryLocalStore,
} from '../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../../js/stores/http/protocol.js';
import type { SessionHandlerOptions } from '../../../../js/server/index.js';
import type { StoredSessionService } from '../../../../js/service/stored_session_service.js';
import { untilAborted } from '../../../../js/core/call/time_limit.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../remote/fixture.js';

export const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
export const USER = { appName: 'shop', userId: 'ada' };

/** A server with a handler, and the way to it. */
export class Server {
  readonly service: StoredSessionService;
  /** Whether requests fail as without a network. */
  isOffline = false;
  /** The number of requests whose responses get lost from now on. */
  lostResponses = 0;
  /** Whether `intercept` answers as the handler; else as something before it, or as another server. */
  isHandler = true;
  /** Answers a request instead of the handler. */
  intercept: ((request: Request) => Promise<Response | undefined>) | undefined;
  readonly requests: string[] = [];
  readonly #fetch: typeof fetch;
  #feedsEnd = new AbortController();

  constructor(
    service: StoredSessionService = new InMemorySessionService(),
    options: Partial<SessionHandlerOptions> = {},
  ) {
    this.service = service;
    this.#fetch = fetchFrom(handlerOn(service, options));
  }

  /** The number of requests for the feed of changes. */
  get feedRequests(): number {
    return this.requests.filter((request) => request === 'GET /api/apps/shop/users/ada/changes')
      .length;
  }

  /** Cuts the open feeds of changes. */
  cutFeeds(): void {
    this.#feedsEnd.abort(new TypeError('network error'));
    this.#feedsEnd = new AbortController();
  }

  /** Lets a request arrive. */
  send(request: Request): Promise<Response> {
    return this.#fetch(request);
  }

  /** Opens the client of a device. */
  client(retries = 0): RemoteSessionService {
    return new RemoteSessionService({
      url: URL_OF_SERVER,
      retries,
      fetch: async (input, init) => {
        if (this.isOffline) throw new TypeError('fetch failed');
        const request = new Request(input, init);
        this.requests.push(`${request.method} ${new URL(request.url).pathname}`);
        const answer = await untilAborted(request.signal, this.intercept?.(request.clone()));
        if (answer !== undefined) {
          if (this.isHandler) answer.headers.set(PROTOCOL_HEADER, PROTOCOL_VERSION);
          return answer;
        }
        const response = await this.#fetch(request);
        if (response.headers.get('content-type') === 'text/event-stream') {
          const { signal } = this.#feedsEnd;
          return new Response(
            response.body!.pipeThrough(new TransformStream(), { signal }),
            response,
          );
        }
        if (request.method !== 'GET' && this.lostResponses > 0) {
          this.lostResponses -= 1;
          throw new TypeError('socket hang up');
        }
        return response;
      },
    });
  }
}

/** Lets a server refuse rewinds as one does that cannot run its agent now. */
export function refuseRewinds(server: Server, isRunning: (sessionId: string) => boolean): void {
  server.intercept = async ({ url }) => {
    const [, sessionId] = /\/([^/]+)\/rewind$/.exec(url) ?? [];
    if (sessionId === undefined || !isRunning(sessionId)) return undefined;
    return Response.json({ code: 'agent_running', detail: 'An agent runs.' }, { status: 409 });
  };
}

/** Cuts the connection, or lets requests wait for ever. Each returns a function that ends the outage. */
export const OUTAGES: Readonly<Record<string, (server: Server) => () => void>> = {
  'is offline': (server) => {
    server.isOffline = true;
    return () => void (server.isOffline = false);
  },
  'does not answer': (server) => {
    const waiting: (() => void)[] = [];
    server.intercept = () =>
      new Promise((_, reject) => waiting.push(() => reject(new TypeError('fetch failed'))));
    return () => {
      server.intercept = undefined;
      for (const end of waiting) end();
    };
  },
};

/** The caches that a test has opened. */
const opened = new Set<CachedSessionService>();

// A test that fails does not close them, and each keeps the process running.
afterEach(async () => {
  await Promise.allSettled([...opened].map((cache) => cache.close({ timeoutMs: 1000 })));
  opened.clear();
});

/** Opens a cache of a device of its own, or over the given local storage. It is closed after the test at the latest. */
export function openCache(
  server: Server,
  options: Partial<CachedSessionOptions> & { readonly local?: LocalStore } = {},
): { readonly cache: CachedSessionService; readonly local: LocalStore } {
  const local = options.local ?? new MemoryLocalStore();
  const cache = new CachedSessionService({
    owner: 'ada',
    remote: server.client(),
    ...options,
    local,
  });
  opened.add(cache);
  return { cache, local };
}

/** Creates a session through a cache, and cuts the connection: when the remote has the session, or before. */
export async function createOffline(server: Server, isCreated: boolean) {
  const { cache, local } = openCache(server);
  server.isOffline = !isCreated;
  const session = await cache.createSession({ ...KEY, state: { kept: 1 } });
  if (isCreated) await cache.sync();
  server.isOffline = true;
  return { cache, session, local };
}

export function event(id: string, stateDelta: Record<string, unknown> = {}) {
  const content = { role: 'user', parts: [{ text: id }] };
  const actions = createEventActions({ stateDelta });
  return createEvent({ id, author: 'user', invocationId: 'i1', timestamp: 1, content, actions });
}

export function idsOf(
  session: { readonly events: readonly { readonly id: string }[] } | undefined,
) {
  return session?.events.map(({ id }) => id);
}

/** Waits until a condition holds. */
export async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  for (let rounds = 0; rounds < 2000; rounds += 1) {
    if (await isDone()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('It never happened.');
}

export function untilSent({ status }: CachedSessionService): boolean {
  return status.pending.length === 0 && !status.isSending;
}

export function hasCode(code: SessionError['code']) {
  return (error: unknown): boolean => isSessionError(error, code);
}
