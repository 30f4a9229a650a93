// A handler over memory, and requests to it.

import { createEvent, InMemorySessionService } from '../../../js/index.js';
import {
  type Rights,
  sessionHandler,
  type SessionHandlerOptions,
} from '../../../js/server/index.js';

export const APP = 'shop';
export const USER = `/apps/${APP}/users/ada`;
export const SESSIONS = `${USER}/sessions`;
export const SESSION = `${SESSIONS}/s1`;
export const KEY = { appName: APP, userId: 'ada', sessionId: 's1' };

/** What is asked beside the path. The method is GET by default, or POST with a body. */
export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export type Ask = (path: string, asked?: Asked) => Promise<Answer>;

/** Makes a request to a server at `http://localhost`. */
export function requestTo(path: string, { method, body, headers = {} }: Asked = {}): Request {
  return new Request(`http://localhost${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** Reads a response whose body is JSON or empty. */
export async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  return { status, headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** All rights that `authorize` can return. */
export const ALL_RIGHTS: Required<Rights> = {
  mayWriteAgentEvents: true,
  mayWriteUserState: true,
  mayWriteAppState: true,
  maySeeCredentials: true,
};

/** Serves a new service in memory. Everything is allowed unless the options say otherwise. */
export function serve(options: Partial<SessionHandlerOptions> = {}) {
  const service = new InMemorySessionService({ artifacts: true });
  const authorize = () => ALL_RIGHTS;
  const handler = sessionHandler(service, { authorize, ...options });
  const ask: Ask = async (path, asked) => answerOf(await handler(requestTo(path, asked)));
  return { service, handler, ask };
}

/** An event as a client sends it. */
export function eventJson(id: string, stateDelta: Record<string, unknown> = {}) {
  return {
    id,
    invocationId: 'i1',
    author: 'user',
    timestamp: 1741218414.968405,
    content: { role: 'user', parts: [{ text: id }] },
    actions: { stateDelta },
  };
}

/** Gives the session an event. */
export async function seed(service: InMemorySessionService): Promise<void> {
  const session = await service.createSession({ ...KEY, state: { topic: 'tea' } });
  const event = createEvent({ id: 'e1', author: 'user', actions: { stateDelta: { turn: 1 } } });
  await service.appendEvent({ session, event });
}

export const idsIn = (body: unknown): string[] =>
  (body as { events: { id: string }[] }).events.map(({ id }) => id);

/** An event of a feed. */
export interface FeedEvent {
  readonly id: string;
  readonly data: unknown;
}

/** Reads the events of a feed one by one; comments are left out. */
export async function* feedEvents(response: Response): AsyncGenerator<FeedEvent> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end < 0) break;
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const [id, data] = ['id: ', 'data: '].map((name) =>
        lines.find((line) => line.startsWith(name))?.slice(name.length),
      );
      if (data !== undefined) yield { id: id!, data: JSON.parse(data) };
    }
  }
}

/** A handler whose session is there, with requests that put and get bytes. */
export async function serveFiles(options: Parameters<typeof serve>[0] = {}) {
  const all = serve(options);
  await all.service.createSession(KEY);
  /** Sends bytes. */
  const put = async (path: string, data: BodyInit, headers: Record<string, string> = {}) => {
    const sent = { method: 'PUT', body: data, headers, duplex: 'half' };
    return answerOf(await all.handler(new Request(`http://localhost${path}`, sent)));
  };
  const get = (path: string, headers: Record<string, string> = {}) =>
    all.handler(requestTo(path, { headers }));
  return { ...all, put, get };
}
