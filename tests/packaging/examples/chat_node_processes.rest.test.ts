// Two processes of the example chat_node over one database, behind a proxy that sends each request to the next one.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { createEvent } from '../../../js/index.js';
import { RemoteSessionService } from '../../../js/service/remote/index.js';
import { type LiveSession, liveSession } from '../../../js/ui/live/index.js';
import { failsWith } from '../../js/fails_with.js';
import { emptied, freePort, type Server, startPostgres } from '../../js/stores/database/servers.js';
import { asks, textsOf } from '../../js/ui/live/runs/agents.js';
import { root } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { startServer } from './chat_site.js';
import { copyExample, linkPackages } from './example.js';

const WORDS = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');

let folder = '';
before(() => {
  folder = copyExample('chat_node', join(root, 'target/examples/chat_node_processes'));
  linkPackages(folder, installPackages('chat_node'), ['fastify', '@fastify/static']);
  // The page is not built.
  mkdirSync(join(folder, 'dist'));
});

/** Starts two servers, and signs in. */
async function startTwo(database: NodeJS.ProcessEnv) {
  const env = { SECRET: 'a secret', ...database };
  const ports: string[] = [];
  const servers: ChildProcess[] = [];
  const services: RemoteSessionService[] = [];
  // The first one makes the tables.
  for (let count = 0; count < 2; count += 1) {
    const port = String(await freePort());
    ports.push(port);
    servers.push(await startServer(folder, port, env));
  }
  const signedIn = await fetch(`http://127.0.0.1:${ports[0]}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ada' }),
  });
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  let requests = 0;

  /** @param port of one process; absent: each request goes to the next one */
  function openService(port?: string): RemoteSessionService {
    const service = new RemoteSessionService({
      url: `http://127.0.0.1:${ports[0]}/api`,
      fetch: (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        url.port = port ?? ports[(requests += 1) % ports.length]!;
        const headers = new Headers(init?.headers);
        headers.set('cookie', cookie);
        return fetch(url, { ...init, headers });
      },
    });
    services.push(service);
    return service;
  }

  async function close(): Promise<void> {
    await Promise.all(services.map((service) => service.close()));
    for (const server of servers) server.kill('SIGKILL');
  }
  return { ports, openService, close };
}

const keyOf = (sessionId: string) => ({ appName: 'chat', userId: 'ada', sessionId });

function openPage(service: RemoteSessionService, sessionId: string): LiveSession {
  const page = liveSession(service, keyOf(sessionId));
  page.subscribe(() => undefined);
  return page;
}

async function until(isTrue: () => boolean, what: () => unknown): Promise<void> {
  for (const end = Date.now() + 30_000; !isTrue(); await pause(20)) {
    assert.ok(Date.now() < end, JSON.stringify(what()));
  }
}

async function showsTexts(page: LiveSession, texts: readonly string[]): Promise<void> {
  // An end event has no text.
  const shown = () => textsOf(page.getSnapshot().events).filter((text) => text !== undefined);
  await until(() => shown().join('\n') === texts.join('\n'), shown);
}

describe('Two processes of the example chat_node over one file', { timeout: 120_000 }, () => {
  let site: Awaited<ReturnType<typeof startTwo>>;
  before(async () => {
    site = await startTwo({ PROCESSES: 'many' });
  });
  after(() => site.close());

  it('answer each message once, and two pages behind them show it', async () => {
    const openOne = () => openPage(site.openService(), 'both');
    const pages = [openOne(), openOne()] as const;
    await pages[0].ask(asks('Hello'));
    const first = ['Hello', 'You said: Hello'];
    for (const page of pages) await showsTexts(page, first);
    await pages[1].ask(asks('And now?'));
    for (const page of pages) await showsTexts(page, [...first, 'And now?', 'You said: And now?']);
  });

  it('refuse a second message during a run of the other one, and cancel that run', async () => {
    const [one, other] = site.ports.map((port) => site.openService(port)) as [
      RemoteSessionService,
      RemoteSessionService,
    ];
    const key = keyOf('refused');
    const session = await one.createSession(key);
    const messageOf = (id: string, text: string) =>
      createEvent({ id, invocationId: `i-${id}`, author: 'user', content: asks(text) });
    await one.appendEvent({ session, event: messageOf('m1', WORDS), run: { streaming: true } });
    const handle = (await other.getSession(key))!;
    const asking = other.appendEvent({ session: handle, event: messageOf('m2', 'Hi'), run: {} });
    await assert.rejects(asking, failsWith('agent_running'));
    assert.equal(await other.cancelRun({ ...key, messageId: 'm1' }), true);
    await other.appendEvent({
      session: (await other.getSession(key))!,
      event: messageOf('m3', 'Hi'),
      run: {},
    });
    const page = openPage(site.openService(), 'refused');
    await showsTexts(page, [WORDS, 'Hi', 'You said: Hi']);
  });
});

describe('Two processes of the example chat_node over PostgreSQL', { timeout: 120_000 }, () => {
  let postgres: Server;
  let site: Awaited<ReturnType<typeof startTwo>>;
  before(async () => {
    postgres = await startPostgres();
    site = await startTwo({ DATABASE_URL: await emptied('postgresql', postgres) });
  });
  after(async () => {
    await site.close();
    await postgres.remove();
  });

  it('show the drafts of each other, and edit a message whose answer the other one streams', async () => {
    const [one, other] = site.ports.map((port) => openPage(site.openService(port), 'streamed'));
    const { id } = await one!.ask(asks(WORDS));
    const drafts = () => textsOf(other!.getSnapshot().drafts);
    await until(() => drafts().some((text) => text?.includes('word1')), drafts);
    await other!.edit(id, asks('Tea?'));
    for (const page of [one!, other!]) await showsTexts(page, ['Tea?', 'You said: Tea?']);
  });
});
