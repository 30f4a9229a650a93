// The server of a schedule: the real handler over memory or SQLite, and an agent of its own.

import { DatabaseSessionService } from '../../../js/database/index.js';
import { createEvent, type Event, InMemorySessionService, type Session, type StateShape } from '../../../js/index.js'; // prettier-ignore
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../js/http/protocol.js';
import { sessionHandler, type SessionHandler } from '../../../js/server/index.js';
import { canonical } from '../model/canonical.js';
import { APP } from './device.js';
import { type Journal, SERVER } from './journal.js';

export const OWNERS = ['ada', 'bob'] as const;
export const SESSIONS = ['s', 't'] as const;

/** A part of a text that the server refuses with status 403, now and later. */
export const REFUSED = 'refused';

type Service = InMemorySessionService | DatabaseSessionService;

export class Server {
  readonly service: Service;
  readonly #journal: Journal;
  #handler: SessionHandler;

  constructor(isSqlite: boolean, journal: Journal) {
    const options = { clock: () => Date.now() };
    this.service = isSqlite
      ? new DatabaseSessionService('sqlite::memory:', options)
      : new InMemorySessionService(options);
    this.#journal = journal;
    this.#handler = this.#newHandler();
  }

  async open(): Promise<void> {
    // A database is opened in real time.
    await this.service.getAppState({ appName: APP });
  }

  #newHandler(): SessionHandler {
    return sessionHandler(this.service, {
      authorize: (request, { action, userId }) => {
        const owner = request.headers.get('authorization')?.replace('Bearer ', '');
        // Without a user only the state of the app is open.
        const isOpen = action === 'getAppState' || action === 'updateState';
        if (owner !== userId && (userId !== undefined || !isOpen)) return false;
        return { mayWriteAgentEvents: true, mayWriteUserState: true, mayWriteAppState: true };
      },
    });
  }

  async handle(request: Request, body: string): Promise<Response> {
    if (body.includes(REFUSED)) {
      // A filter refuses a content for good.
      const headers = { [PROTOCOL_HEADER]: PROTOCOL_VERSION, 'content-type': 'application/json' };
      return new Response('{"detail":"refused by its content"}', { status: 403, headers });
    }
    const response = await this.#handler(request);
    if (request.method !== 'GET') await this.#observe(/users\/(\w+)/.exec(request.url)?.[1]);
    return response;
  }

  /** Stops the handler, with its feeds, and starts another one. */
  restart(): void {
    this.#handler.close();
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
    for (const sessionId of SESSIONS) {
      const session = await this.service.getSession({ ...user, sessionId });
      if (session === undefined) continue;
      const name = `${userId}/${sessionId}`;
      const { events, title, labels = {}, state } = session;
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

  async delete(sessionId: string): Promise<void> {
    const userId = OWNERS[0];
    const deletion = this.#journal.beginDeletion(SERVER, `${userId}/${sessionId}`);
    await this.service.deleteSession({ appName: APP, userId, sessionId });
    this.#journal.end(deletion);
  }

  async close(): Promise<void> {
    this.#handler.close();
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
