// A page that talks to an agent of `adk api_server`; the server and the session are named in the page's address.

import type { Event } from 'adk-session-wasm';
import { RemoteSessionService } from 'adk-session-wasm/remote';

export interface Conversation {
  readonly listed: readonly string[];
  /** The texts of the events, each with whether it is a piece. */
  readonly run: readonly (readonly [text: unknown, isPartial: boolean])[];
  /** The authors of the handle's events. */
  readonly authors: readonly unknown[];
  readonly state: Readonly<Record<string, unknown>>;
  /** Whether a session that was read afterwards is equal to the handle. */
  readonly isCurrent: boolean;
  /** The code of the error that ends an aborted run. */
  readonly aborted: unknown;
}

const USER = { appName: 'script', userId: 'ada' };

const message = (steps: readonly object[]) => ({
  role: 'user',
  parts: [{ text: JSON.stringify(steps) }],
});

async function converse(url: string, sessionId: string): Promise<Conversation> {
  const service = new RemoteSessionService({ url });
  const key = { ...USER, sessionId };
  const session = await service.getOrCreateSession({ ...key, state: { n: 0 } });
  const newMessage = message([
    { say: 'Green', partial: true },
    { say: 'Green tea.', state: { n: 1 } },
  ]);
  const run: [unknown, boolean][] = [];
  for await (const event of service.run({ session, newMessage, streaming: true })) {
    run.push([textOf(event), event.partial === true]);
  }
  const stored = await service.getSession(key);
  const { sessions } = await service.listSessions(USER);

  const stop = new AbortController();
  const endless = message([{ say: 'one' }, { wait: 600 }]);
  const pending = service.run({ ...key, newMessage: endless, signal: stop.signal });
  await pending.next();
  const next = pending.next();
  stop.abort();
  const error: unknown = await next.catch((error: unknown) => error);
  await service.close();
  return {
    listed: sessions.map(({ id }) => id).sort(),
    run,
    authors: session.events.map(({ author }) => author),
    state: session.state,
    isCurrent: JSON.stringify(stored) === JSON.stringify(session),
    aborted: (error as { code?: unknown }).code,
  };
}

function textOf({ content }: Event): unknown {
  return content?.parts?.[0]?.text;
}

const parameters = new URLSearchParams(location.search);
const report = converse(parameters.get('server') ?? '', parameters.get('session') ?? '');
Object.assign(globalThis, { report });
