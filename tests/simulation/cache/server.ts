// The server of a schedule: the real handler over memory or SQLite, and an agent of its own.

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import type { RewindWrite } from '../../../js/core/history_types.js';
import { createEvent, type Event, InMemorySessionService, type Session, type StateShape } from '../../../js/index.js'; // prettier-ignore
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../js/stores/http/protocol.js';
import { RemoteSessionService } from '../../../js/service/remote/index.js';
import type { StoredSessionService } from '../../../js/service/stored_session_service.js';
import { sessionHandler, type SessionHandler } from '../../../js/server/index.js';
import { canonical } from '../model/canonical.js';
import { APP, SECRET } from './device.js';
import { type Journal, SERVER } from './journal.js';
import { INITIAL, Reference } from './reference.js';
import type { World } from './world.js';

export const OWNERS = ['ada', 'bob'] as const;
export const SESSIONS = ['s', 't'] as const;

/** A part of a text that the server refuses with status 403, now and later. */
export const REFUSED = 'refused';

type Service = InMemorySessionService | DatabaseSessionService;

export class Server {
  readonly service: Service;
  /** The same histories over memory, if the schedule changes histories. */
  readonly reference: Reference | undefined;
  /** Until when an agent runs in a session. */
  readonly runningUntil = new Map<string, number>();
  readonly #readers: RemoteSessionService[] = [];
  readonly #world: World;
  readonly #journal: Journal;
  #handler: SessionHandler;
  /** Requests are handled one after the other, so that each effect is seen. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(isSqlite: boolean, hasHistories: boolean, world: World, journal: Journal) {
    const clock = (): number => Date.now();
    const options = { clock, autoTitle: hasHistories };
    this.reference = hasHistories ? new Reference(clock) : undefined;
    this.#world = world;
    this.service = isSqlite
      ? new DatabaseSessionService('sqlite::memory:', options)
      : new InMemorySessionService(options);
    this.#journal = journal;
    this.#handler = this.#newHandler();
  }

  async open(): Promise<void> {
    // A database is opened in real time.
    await this.service.getAppState({ appName: APP });
    if (this.reference === undefined) return;
    const key = { appName: APP, userId: OWNERS[0], sessionId: SESSIONS[0] };
    await this.service.createSession({ ...key, state: INITIAL });
  }

  #newHandler(): SessionHandler {
    return sessionHandler(this.service, {
      authorize: (request, { action, userId }) => {
        const owner = request.headers.get('authorization')?.replace('Bearer ', '');
        // Without a user only the state of the app is open.
        const isOpen = action === 'getAppState' || action === 'updateState';
        if (owner !== userId && (userId !== undefined || !isOpen)) return false;
        const rights = { mayWriteUserState: true, mayWriteAppState: true };
        return { ...rights, mayWriteAgentEvents: this.reference === undefined };
      },
    });
  }

  handle(request: Request, body: string): Promise<Response> {
    const handled = this.#turn.then(() => this.#handle(request, body));
    this.#turn = handled.catch(() => undefined);
    return handled;
  }

  async #handle(request: Request, body: string): Promise<Response> {
    if (body.includes(REFUSED)) {
      // A filter refuses a content for good.
      return refusal(403, { detail: 'refused by its content' });
    }
    if (request.method === 'POST' && request.url.endsWith('/rewind')) {
      this.reference?.expectRewind(JSON.parse(body) as RewindWrite);
      const [, sessionId = ''] = /\/([^/]+)\/rewind$/.exec(request.url) ?? [];
      const isRunning = (this.runningUntil.get(sessionId) ?? 0) > this.#world.now;
      if (isRunning) return refusal(409, { code: 'agent_running', detail: 'An agent runs.' });
    }
    const response = await this.#handler(request);
    await this.#requireNoSecrets(response);
    if (request.method !== 'GET') await this.#observe(/users\/(\w+)/.exec(request.url)?.[1]);
    return response;
  }

  /** A body is read from a copy, so that a feed goes on. */
  async #requireNoSecrets(response: Response): Promise<void> {
    if (this.reference === undefined) return;
    const isFeed = response.headers.get('content-type')?.startsWith('text/event-stream');
    const text = isFeed === true ? '' : await response.clone().text();
    if (text.includes(SECRET)) this.#world.fail(`an answer has a secret: ${text}`);
  }

  /** What a user reads who has no cache and a network without faults. */
  reader(userId: string): StoredSessionService {
    if (this.reference === undefined) return this.service;
    const reader = new RemoteSessionService({
      url: 'http://server.test',
      getAccessToken: () => userId,
      fetch: (input, init) => this.#handler(new Request(input, init)),
    });
    this.#readers.push(reader);
    return reader;
  }

  /** Compares all histories with those over memory. @returns what is wrong */
  async compareHistories(): Promise<string | undefined> {
    return this.reference?.compare(this.service, OWNERS[0], this.sessions);
  }

  /** The sessions that there may be. */
  get sessions(): string[] {
    return [...SESSIONS, ...(this.reference?.forks.keys() ?? [])];
  }

  /** Stops the handler, with its feeds, and starts another one. */
  restart(): void {
    void this.#handler.close();
    this.#handler = this.#newHandler();
  }

  /** Notes what the state of the app and a user have now. */
  async #observe(userId: string | undefined): Promise<void> {
    const accept = (state: StateShape, registerOf: (key: string) => string): void => {
      for (const [key, value] of Object.entries(state)) {
        this.#journal.accept(registerOf(key), String(value));
      }
    };
    accept(await this.service.getAppState({ appName: APP }), (key) => `app:${key}`);
    if (userId === undefined) return;
    const user = { appName: APP, userId };
    accept(await this.service.getUserState(user), (key) => `user:${key} of ${userId}`);
    const problem = await this.reference?.follow(this.service, userId, this.sessions);
    if (problem !== undefined) this.#world.fail(problem);
    for (const sessionId of this.sessions) {
      const session = await this.service.getSession({ ...user, sessionId });
      if (session === undefined) continue;
      const name = `${userId}/${sessionId}`;
      const { events, title, labels = {}, state } = session;
      const oldest = this.#journal.oldest.get(name) ?? events[0]?.id;
      if (oldest !== undefined) this.#journal.oldest.set(name, oldest);
      for (const { id, content } of events) {
        this.#journal.accept(`${name} ${id}`, content?.parts?.[0]?.text ?? '');
      }
      if (title !== undefined) this.#journal.accept(`${name} title`, title);
      accept(labels, (key) => `${name} label ${key}`);
      const own = Object.entries(state).filter(([key]) => !/^(user|app):/.test(key));
      accept(Object.fromEntries(own), (key) => `${name} state ${key}`);
    }
  }

  /** The server's own agent appends an event to a session of the first owner. */
  async append(sessionId: string, n: number): Promise<void> {
    const [eventId, value, userId] = [`e${n}`, `dS.srv.${n}`, OWNERS[0]];
    const session = await this.service.getOrCreateSession({ appName: APP, userId, sessionId });
    const name = `${userId}/${sessionId}`;
    const write = { register: `${name} ${eventId}`, value, session: name, eventId, isNew: true };
    const begun = this.#journal.begin(SERVER, 'srv', [write]);
    const event = eventOf(eventId, value, { k: value, 'user:a': value }, 'agent');
    await this.service.appendEvent({ session, event });
    this.#journal.end(begun);
    await this.#observe(userId);
  }

  /** An agent appends what it has: a text, a state or a call, with credentials. */
  async answer(sessionId: string, n: number, keys: readonly string[]): Promise<void> {
    const userId = OWNERS[0];
    const key = { appName: APP, userId, sessionId };
    const session = await this.service.getSession({ ...key, config: { view: 'transcript' } });
    if (session === undefined) return;
    const credential = { authType: 'http', accessToken: `${SECRET}${n}`, name: `of ${n}` };
    const value = `dS.srv.${n}`;
    const stateDelta: StateShape = Object.fromEntries(keys.map((key) => [key, value]));
    const event = eventOf(`e${n}`, value, stateDelta, 'agent');
    event.invocationId = session.events.at(-1)?.invocationId ?? `i${n}`;
    if (n % 3 === 0) stateDelta.credential = credential;
    if (n % 3 === 1) {
      const name = n % 2 === 0 ? 'adk_request_credential' : 'adk_request_confirmation';
      const args = { authConfig: { exchangedAuthCredential: credential } };
      event.content!.parts!.push({ functionCall: { id: `c${n}`, name, args } });
      event.longRunningToolIds = [`c${n}`];
    }
    if (n % 3 === 2) {
      const config = { rawAuthCredential: credential };
      (event.actions as { requestedAuthConfigs: object }).requestedAuthConfigs = { c: config };
    }
    this.reference!.expect([event]);
    const name = `${userId}/${sessionId}`;
    const write = {
      register: `${name} e${n}`,
      value,
      session: name,
      eventId: `e${n}`,
      isNew: true,
    };
    const begun = this.#journal.begin(SERVER, 'srv', [write]);
    await this.service.appendEvent({ session, event });
    this.#journal.end(begun);
    await this.#observe(userId);
  }

  async delete(sessionId: string): Promise<void> {
    const userId = OWNERS[0];
    const deletion = this.#journal.beginDeletion(SERVER, `${userId}/${sessionId}`);
    await this.service.deleteSession({ appName: APP, userId, sessionId });
    this.#journal.end(deletion);
  }

  async close(): Promise<void> {
    for (const reader of this.#readers) await reader.close();
    await this.#handler.close();
    await this.service.close();
  }
}

export function eventOf(
  id: string,
  text: string,
  stateDelta: StateShape = {},
  author = 'user',
): Event {
  // prettier-ignore
  const role = author === 'user' ? 'user' : 'model';
  const content = { role, parts: [{ text }] };
  return createEvent({ id, invocationId: 'i', author, content, actions: { stateDelta } });
}

/** A session, a state or a list as a text. */
export function textOf(shown: object | undefined): string {
  if (shown === undefined || !('id' in shown)) return canonical(shown ?? 'absent');
  const { id, title, labels, lastUpdateTime, state, events } = shown as Session;
  // The server's mark of events that came from outside is not shown to clients.
  const visible = events.map((event) => ({ ...event, customMetadata: undefined }));
  return canonical({ id, title, labels, lastUpdateTime, state, events: visible });
}

function refusal(status: number, answer: object): Response {
  const headers = { [PROTOCOL_HEADER]: PROTOCOL_VERSION };
  return Response.json(answer, { status, headers });
}
