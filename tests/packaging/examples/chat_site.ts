// The program of the guide "Chat", followed to the letter: its server, and its page in browsers.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser } from '../../browser/browser.js';
import { click, shows, until } from '../../browser/chat_page.js';
import type { Scenarios, Tab } from '../../browser/tab.js';
import { freePort } from '../../js/stores/database/servers.js';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { follow, type Guide } from '../docs/guide.js';

export type Page = Tab<Scenarios>;

export const GUIDE: Guide = { page: 'chat.md', section: 'Build it' };

/** The folders of tests/packages/ with the packages that the repository itself does not need. */
export const PACKAGES = ['chat_node', 'vite_react'];

/** Starts a server of the program, over the file in its folder unless `env` names another database. */
export async function startServer(
  folder: string,
  port: string,
  env: NodeJS.ProcessEnv,
): Promise<ChildProcess> {
  const DATABASE_URL = `sqlite:${folder}/chat.db`;
  const server = spawn(process.execPath, ['--import', 'tsx', 'server.ts'], {
    cwd: folder,
    // With a key, Gemini would answer.
    env: { ...process.env, GOOGLE_API_KEY: '', PORT: port, DATABASE_URL, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  return server;
}

export class ChatSite {
  readonly #folder: string;
  readonly #port: string;
  #server: ChildProcess | undefined;
  readonly #pages = new Map<Browser, Page>();

  private constructor(folder: string, port: string) {
    this.#folder = folder;
    this.#port = port;
  }

  /** Follows the guide, and starts its server. */
  static async build(): Promise<ChatSite> {
    // The server is started below.
    const instead = (command: string): boolean => command.includes('tsx server.ts');
    const folder = await follow(GUIDE, { packages: PACKAGES.map(installPackages), instead });
    const site = new ChatSite(folder, String(await freePort()));
    await site.start();
    return site;
  }

  /** Starts the server unless it runs. */
  async start(secret = 'a secret'): Promise<void> {
    if (this.#server !== undefined) return;
    this.#server = await startServer(this.#folder, this.#port, { SECRET: secret });
  }

  /** @returns the exit code of the server */
  async stop(signal: NodeJS.Signals): Promise<unknown> {
    const server = this.#server;
    if (server === undefined) return undefined;
    this.#server = undefined;
    const ended = once(server, 'exit');
    server.kill(signal);
    return (await ended)[0];
  }

  /** Opens the page in place of the device's last one, and signs in. */
  async open(device: Browser, user: string, host = '127.0.0.1'): Promise<Page> {
    // Each page has a connection for its feed, and a browser has six to a server.
    await this.#pages.get(device)?.leave();
    const page = await device.openTab(`http://${host}:${this.#port}/`);
    this.#pages.set(device, page);
    await until(page, `document.querySelector('.sign-in, footer') !== null`);
    if (await page.evaluate<boolean>(`document.querySelector('footer') !== null`)) {
      await click(page, 'footer button', 'Sign out');
    }
    await untilLoaded(page, SIGNED_OUT);
    await page.evaluate(`(() => {
      const form = document.querySelector('.sign-in');
      form.querySelector('input').value = '${user}';
      form.requestSubmit();
    })()`);
    await untilLoaded(page, FORM);
    // So that the page opens without its server. A page that loads while its service worker begins may stay without it.
    await page.evaluate(`navigator.serviceWorker?.ready.then(({ active }) => new Promise((resolve) => {
      const look = () => (active.state === 'activated' ? resolve() : setTimeout(look, 20));
      look();
    }))`);
    if (await page.evaluate<boolean>(`navigator.serviceWorker?.controller === null`)) {
      await reopen(page);
      await untilLoaded(page, FORM);
    }
    return page;
  }
}

/** Waits until an expression is true in a page that loads itself again meanwhile, which ends scripts that wait in it. */
export async function untilLoaded(page: Page, expression: string): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await page.evaluate<boolean>(expression).catch(() => false))) {
    assert.ok(Date.now() < end, `not true: ${expression}`);
    await sleep(50);
  }
}

const FORM = `document.querySelector('form [name=text]') !== null`;

/** Whether a page shows the sign-in alone. */
export const SIGNED_OUT = `document.querySelector('#root > .sign-in') !== null`;

/** Waits until the page shows these messages, and no others. */
export const lines = (page: Page, ...texts: string[]): Promise<void> =>
  shows(page, '.stored', texts);

/** Waits until the server has everything. */
export const settled = (page: Page): Promise<void> => shows(page, 'output', ['online, 0 waiting']);

/** Opens the address of the page again. */
export async function reopen(page: Page): Promise<void> {
  const address = await page.evaluate<string>('location.href');
  await page.open('about:blank');
  await page.open(address);
}
