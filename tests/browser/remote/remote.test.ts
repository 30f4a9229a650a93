// The real `adk api_server` from pages of another origin, which the server allows.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Event } from 'adk-session-wasm';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { type ApiServer, startApiServer } from '../../interop/api_server/api_server.js';
import { freePort } from '../../js/stores/database/servers.js';
import { SHARED_ENGINES } from '../../interop/database/shared_databases.js';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { pageScript } from '../page_script.js';
import { html, serve, type Server } from '../server.js';
import type { Tab } from '../tab.js';

const ADA = { appName: 'script', userId: 'ada' };
const EVA = { appName: 'script', userId: 'eva' };

export const page = () => ({ converse, converseCached });

const message = (steps: readonly object[]) => ({
  role: 'user',
  parts: [{ text: JSON.stringify(steps) }],
});

/** Talks to an agent of `adk api_server`. */
async function converse(url: string, sessionId: string) {
  const service = new RemoteSessionService({ url });
  const key = { ...ADA, sessionId };
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
  const { sessions } = await service.listSessions(ADA);

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

/** Talks to it through a cache. A server that is not there leaves what the copies of the owner have. */
async function converseCached(url: string, sessionId: string, owner: string) {
  const remote = new RemoteSessionService({ url, retries: 0 });
  const service = new CachedSessionService({ remote, owner });
  const key = { ...EVA, sessionId };
  const { sessions } = await service.listSessions(EVA);
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

function textOf({ content }: Event): unknown {
  return content?.parts?.[0]?.text;
}

async function servePage(): Promise<Server> {
  const imports = {
    'adk-session-wasm/remote': '/package/js/dist/service/remote/index.js',
    'adk-session-wasm/cache': '/package/js/dist/service/cache/index.js',
  };
  return serve({
    '/': html(packagePage('/main.js', imports)),
    '/main.js': { body: await pageScript(import.meta.url, { packages: 'external' }) },
    ...PACKAGE_ROUTES,
  });
}

describe('A page over adk api_server', () => {
  const databases = SHARED_ENGINES.map(([title, start]) => ({ title, newDatabase: start() }));
  let site: Server;
  let servers: ApiServer[];
  before(async () => {
    site = await servePage();
    const started = databases.map(async ({ newDatabase }) => {
      return startApiServer((await newDatabase()).python, site.origin);
    });
    servers = await Promise.all(started);
  });
  after(() => Promise.all([site.close(), ...servers.map((server) => server.end())]));

  for (const [position, browserName] of BROWSERS.entries()) {
    describe(`in ${browserName}`, () => {
      let browser: Browser;
      let tab: Tab<ReturnType<typeof page>>;
      before(async () => (browser = await openBrowser(browserName)));
      after(() => browser.close());
      beforeEach(async () => (tab = await browser.openTab(`${site.origin}/`)));
      afterEach(() => tab.leave());

      for (const [number, { title }] of databases.entries()) {
        it(`lists, opens and runs on ${title}`, async () => {
          assert.deepEqual(await tab.call('converse', servers[number]!.url, browserName), {
            listed: BROWSERS.slice(0, position + 1),
            run: [
              ['Green', true],
              ['Green tea.', false],
            ],
            authors: ['user', 'script'],
            state: { n: 1 },
            isCurrent: true,
            aborted: 'aborted',
          });
          assert.deepEqual(site.missed, []);
        });

        it(`has a copy after a reload without the server, and goes on with it on ${title}`, async () => {
          const server = servers[number]!;
          const path = `/apps/script/users/eva/sessions/${browserName}`;
          assert.equal((await server.ask(path, { body: { topic: 'tea' } })).status, 200);
          const converse = async (url: string) => {
            await tab.open(`${site.origin}/`);
            return tab.call('converseCached', url, browserName, title);
          };
          const listed = BROWSERS.slice(0, position + 1);
          const run = [
            ['Green', true],
            ['Green tea.', false],
          ];
          const first = ['…', 'Green tea.'];
          const begun = { listed, after: first, state: { topic: 'tea', n: 0 } };
          assert.deepEqual(await converse(server.url), { ...begun, before: [], run });
          const nobody = `http://127.0.0.1:${await freePort()}`;
          const offline = { ...begun, before: first, run: 'connection_lost' };
          assert.deepEqual(await converse(nobody), offline);
          const body = { stateDelta: { meanwhile: true } };
          assert.equal((await server.ask(path, { method: 'PATCH', body })).status, 200);
          assert.deepEqual(await converse(server.url), {
            listed,
            before: [...first, '…'],
            run,
            after: [...first, '…', ...first],
            state: { topic: 'tea', n: 3, meanwhile: true },
          });
          assert.deepEqual(site.missed, []);
        });
      }
    });
  }
});
