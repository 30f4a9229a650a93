// The example of an offline chat: its server over PostgreSQL, and its page in Chromium.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { emptied, freePort, type Server, startPostgres } from '../../js/database/servers.js';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, openBrowser } from '../browser.js';

const PROGRAM = join(root, 'js/examples/offline_chat/server.ts');

/** What the page shows: the messages, then the state. */
const LINES = `[...document.querySelectorAll('li, p')].map(({ textContent }) => textContent)`;

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
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] }); // prettier-ignore
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

  /** Evaluates an expression in the page, and waits for its promise. */
  async function evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await browser.debug<{
      result: { value?: unknown };
      exceptionDetails?: { text: string };
    }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return result.value;
  }

  const send = (text: string) =>
    evaluate(`(() => {
      document.querySelector('input').value = ${JSON.stringify(text)};
      document.querySelector('form').requestSubmit();
    })()`);

  /** Waits until the page shows these lines. */
  const shows = (lines: readonly string[]) =>
    evaluate(`new Promise((resolve, reject) => {
      const expected = ${JSON.stringify(JSON.stringify(lines))};
      const look = () => JSON.stringify(${LINES}) === expected && resolve();
      new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
      setTimeout(() => reject(new Error(JSON.stringify(${LINES}))), 60_000);
      look();
    })`);

  it('keeps working without its server, and sends when it is back', async () => {
    await start();
    const tab = await browser.openTab(`http://127.0.0.1:${port}/?user=ada`);
    await evaluate('navigator.serviceWorker.ready.then(() => undefined)');
    await send('Hello');
    const answered = ['user: Hello', 'agent: You said: Hello'];
    await shows([...answered, 'online, 0 waiting']);

    await stop();
    await tab.open(`http://127.0.0.1:${port}/?user=ada`);
    await shows([...answered, 'offline, 0 waiting']);
    await send('Are you there?');
    const waiting = [...answered, 'user: Are you there?'];
    await shows([...waiting, 'offline, 1 waiting']);

    await start();
    await shows([...waiting, 'agent: You said: Are you there?', 'online, 0 waiting']);
  });
});
