// A page that talks to an agent engine; its server is named in the page's address.

import { createEvent, type Event } from 'adk-session-wasm';
import { VertexAiSessionService } from 'adk-session-wasm/vertex';

export interface Conversation {
  readonly ids: readonly string[];
  readonly texts: readonly unknown[];
  readonly last: readonly unknown[];
  readonly state: Readonly<Record<string, unknown>>;
  readonly handleState: Readonly<Record<string, unknown>>;
  /** The code of the error that a service without credentials ends with. */
  readonly withoutCredentials: unknown;
  readonly isSecure: boolean;
}

const KEY = { appName: 'shop', userId: 'ada' };

async function converse(baseUrl: string): Promise<Conversation> {
  const place = { projectId: 'my-project', location: 'us-central1', agentEngineId: '123', baseUrl };
  const service = new VertexAiSessionService({ ...place, accessToken: () => 'a-token' });
  const session = await service.createSession({ ...KEY, state: { n: 0, 'user:name': 'Ada' } });
  for (const n of [1, 2, 3]) {
    const content = { role: 'user', parts: [{ text: `message ${n}` }] };
    const event = createEvent({ author: 'user', content, actions: { stateDelta: { n } } });
    await service.appendEvent({ session, event });
  }
  const key = { ...KEY, sessionId: session.id };
  const whole = await service.getSession(key);
  const end = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
  const { sessions } = await service.listSessions(KEY);
  await service.deleteSession(key);
  await service.close();

  const stranger = new VertexAiSessionService(place);
  const refusal: unknown = await stranger.getSession(key).catch((error: unknown) => error);
  await stranger.close();
  return {
    ids: sessions.map(({ id }) => id),
    texts: whole?.events.map(textOf) ?? [],
    last: end?.events.map(textOf) ?? [],
    state: whole?.state ?? {},
    handleState: session.state,
    withoutCredentials: (refusal as { code?: unknown }).code,
    isSecure: isSecureContext,
  };
}

function textOf({ content }: Event): unknown {
  return content?.parts?.[0]?.text;
}

const server = new URLSearchParams(location.search).get('server') ?? '';
Object.assign(globalThis, { report: converse(server) });
