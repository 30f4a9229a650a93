// A page that talks to an agent of `adk api_server` through a cache; the server, the session and the owner of the copies are
// named in the page's address. A server that is not there leaves what the copies have.

import type { Event } from 'adk-session-wasm';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';

export interface CachedConversation {
  readonly listed: readonly string[];
  /** The texts of the events that the session has; a user's message is shown as `…`. */
  readonly before: readonly unknown[];
  /** The texts of the run's events, each with whether it is a piece; or the code of its error. */
  readonly run: unknown;
  readonly after: readonly unknown[];
  readonly state: Readonly<Record<string, unknown>>;
}

const USER = { appName: 'script', userId: 'eva' };

async function converse(
  url: string,
  sessionId: string,
  owner: string,
): Promise<CachedConversation> {
  const remote = new RemoteSessionService({ url, retries: 0 });
  const service = new CachedSessionService({ remote, owner });
  const key = { ...USER, sessionId };
  const { sessions } = await service.listSessions(USER);
  await service.sync().catch(codeOf);
  const before = textsOf((await service.getSession(key))?.events);
  const steps = [
    { say: 'Green', partial: true },
    { say: 'Green tea.', state: { n: before.length } },
  ];
  const newMessage = { role: 'user', parts: [{ text: JSON.stringify(steps) }] };
  const run = await runIn(service.run({ ...key, newMessage, streaming: true })).catch(codeOf);
  const session = await service.getSession(key);
  await service.close();
  await remote.close();
  return {
    listed: sessions.map(({ id }) => id).sort(),
    before,
    run,
    after: textsOf(session?.events),
    state: session?.state ?? {},
  };
}

async function runIn(events: AsyncIterable<Event>): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for await (const event of events) {
    seen.push([event.content?.parts?.[0]?.text, event.partial === true]);
  }
  return seen;
}

function textsOf(events: readonly Event[] = []): readonly unknown[] {
  return events.map(({ author, content }) => (author === 'user' ? '…' : content?.parts?.[0]?.text));
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code ?? String(error);
}

const parameters = new URLSearchParams(location.search);
const [server = '', session = '', owner = ''] = ['server', 'session', 'owner'].map(
  (name) => parameters.get(name) ?? '',
);
Object.assign(globalThis, { report: converse(server, session, owner) });
