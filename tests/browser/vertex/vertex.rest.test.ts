// Vertex AI from a page: its server is of another origin, and a page has no credentials but those that it is given.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createEvent, type Event } from 'adk-session-wasm';
import { VertexAiSessionService } from 'adk-session-wasm/vertex';
import { startVertexServer, type VertexServer } from '../../vertex_server/server.js';
import { type BrowserName, ALL_BROWSERS, openBrowser } from '../browser.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { pageScript } from '../page_script.js';
import { html, serve, type Server } from '../server.js';

const KEY = { appName: 'shop', userId: 'ada' };

export const page = () => ({ converse });

/** Talks to an agent engine. */
async function converse(baseUrl: string) {
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

async function servePage(): Promise<Server> {
  const imports = {
    'adk-session-wasm': '/package/js/dist/index.js',
    'adk-session-wasm/vertex': '/package/js/dist/service/vertex/index.js',
  };
  return serve({
    '/': html(packagePage('/main.js', imports)),
    '/main.js': { body: await pageScript(import.meta.url, { packages: 'external' }) },
    ...PACKAGE_ROUTES,
  });
}

describe('Vertex AI', () => {
  let site: Server;
  let server: VertexServer;
  before(async () => {
    [site, server] = await Promise.all([servePage(), startVertexServer({ pageSize: 2 })]);
  });
  after(() => Promise.all([site.close(), server.end()]));

  // To a browser a name that it does not know as its own machine's is no secure context.
  const pages: [browserName: BrowserName, host: string][] = [
    ...ALL_BROWSERS.map((browserName): [BrowserName, string] => [browserName, '127.0.0.1']),
    ['chromium', 'shop.test'],
  ];
  for (const [browserName, host] of pages) {
    it(`stores the sessions of a page of http://${host} in ${browserName}`, async () => {
      server.forget();
      const resolve = host === '127.0.0.1' ? [] : [`--host-resolver-rules=MAP ${host} 127.0.0.1`];
      const browser = await openBrowser(browserName, { arguments: resolve });
      try {
        const origin = site.origin.replace('127.0.0.1', host);
        const tab = await browser.openTab<ReturnType<typeof page>>(`${origin}/`);
        const { ids, ...conversation } = await tab.call('converse', server.url);
        const state = { n: 3, 'user:name': 'Ada' };
        assert.deepEqual(conversation, {
          texts: ['message 1', 'message 2', 'message 3'],
          last: ['message 3'],
          state,
          handleState: state,
          withoutCredentials: 'storage_unavailable',
          isSecure: host === '127.0.0.1',
        });
        assert.match(ids.join(), /^[a-f][\da-f-]{35}$/);
      } finally {
        await browser.close();
      }
      const tokens = new Set(server.requests.map(({ headers }) => headers.authorization));
      assert.deepEqual([...tokens], ['Bearer a-token']);
      assert.equal(server.calls.at(-1), 'sessions.delete');
      assert.deepEqual(site.missed, []);
    });
  }
});
