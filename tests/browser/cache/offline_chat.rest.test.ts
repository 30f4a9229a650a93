// The example of an offline chat: its server over PostgreSQL, and its page in Chromium.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { emptied, freePort, type Server, startPostgres } from '../../js/stores/database/servers.js';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, openBrowser } from '../browser.js';
import { say, shows } from '../chat_page.js';

interface Content {
  readonly parts?: readonly { readonly text?: string }[];
}

const PROGRAM = join(root, 'examples/offline_chat/server.ts');

/** The messages, then the state. */
const LINES = 'li, p';

describe('The example of an offline chat', { timeout: 180_000 }, () => {
  let postgres: Server;
  let browser: Browser;
  let databaseUrl: string;
  let port: string;
  let program: ChildProcess | undefined;

  before(async () => {
    [postgres, browser] = await Promise.all([startPostgres(), openBrowser('chromium')]);
    databaseUrl = await emptied('postgresql', postgres);
    port = String(await freePort());
  });
  after(async () => {
    await browser.close();
    await stop();
    await postgres.remove();
  });

  async function start(): Promise<void> {
    const args = ['--import', 'tsx', PROGRAM, databaseUrl, port];
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const child = spawn(process.execPath, args, { cwd: root, stdio: [...stdio] });
    program = child;
    await once(child.stdout, 'data');
  }

  async function stop(): Promise<void> {
    if (program === undefined) return;
    const ended = once(program, 'exit');
    program.kill('SIGKILL');
    program = undefined;
    await ended;
  }

  it('keeps working without its server, and sends when it is back', async () => {
    await start();
    const tab = await browser.openTab(`http://127.0.0.1:${port}/?user=ada`);
    await tab.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
    await say(tab, 'Hello');
    const answered = ['user: Hello', 'agent: You said: Hello'];
    await shows(tab, LINES, [...answered, 'online, 0 waiting']);

    await stop();
    await tab.open(`http://127.0.0.1:${port}/?user=ada`);
    await shows(tab, LINES, [...answered, 'offline, 0 waiting']);
    await say(tab, 'Are you there?');
    const waiting = [...answered, 'user: Are you there?'];
    await shows(tab, LINES, [...waiting, 'offline, 1 waiting']);

    await start();
    await shows(tab, LINES, [...waiting, 'agent: You said: Are you there?', 'online, 0 waiting']);
  });

  it('sends from the service worker when the page is closed', async () => {
    const origin = `http://127.0.0.1:${port}`;
    const tab = await browser.openTab(`${origin}/?user=eva`);
    await tab.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
    await say(tab, 'Hello');
    // The answer shows that the session is on the device: it cannot be opened offline before.
    const answered = ['user: Hello', 'agent: You said: Hello'];
    await shows(tab, LINES, [...answered, 'online, 0 waiting']);
    await stop();
    await say(tab, 'Are you there?');
    await shows(tab, LINES, [...answered, 'user: Are you there?', 'offline, 1 waiting']);
    await tab.close();
    await start();
    await browser.debug('ServiceWorker.enable');
    const event = { origin, registrationId: '0', tag: 'eva', lastChance: false };
    await browser.debug('ServiceWorker.dispatchSyncEvent', event);
    const path = '/api/apps/chat/users/eva/sessions/first';
    const headers = { 'x-user': 'eva' };
    for (let texts: string[] = []; !texts.includes('Are you there?');) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const response = await fetch(`${origin}${path}`, { headers });
      if (!response.ok) continue;
      const { events } = (await response.json()) as { events: { content?: Content }[] };
      texts = events.map(({ content }) => content?.parts?.[0]?.text ?? '');
    }
  });
});
