// The guide "Chat", followed to the letter: its page in Chromium over its server, which is killed on the way. Its files are the
// example chat_node.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Browser, openBrowser } from '../../browser/browser.js';
import {
  assertStreamed,
  click,
  MANY_WORDS,
  record,
  say,
  shows,
  until,
} from '../../browser/chat_page.js';
import type { Scenarios, Tab } from '../../browser/tab.js';
import { freePort } from '../../js/stores/database/servers.js';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { root } from '../../toolchain/environment.mjs';
import { follow, stepsOf } from '../docs/guide.js';
import { assertManifest, checkTypes, copyExample, filesOfExample, linkPackages } from './example.js'; // prettier-ignore

type Page = Tab<Scenarios>;

const GUIDE = { page: 'chat.md', section: 'Build it' };

/** The folders of tests/packages/ with the packages that the repository itself does not need. */
const PACKAGES = ['chat_node', 'vite_react'];

const packagesOf = (folder: string): string[] =>
  ['fastify', '@fastify/static', '@vitejs/plugin-react'].filter((name) =>
    existsSync(join(folder, 'node_modules', name)),
  );

const linesOf = (file: string): number =>
  readFileSync(join(root, 'examples/chat_node', file), 'utf8')
    .trimEnd()
    .split('\n').length;

it('The example chat_node has a server of 80 lines and a page of 300', () => {
  assert.ok(linesOf('server.ts') <= 80);
  const ofPage = filesOfExample('chat_node').filter((file) => /^src|\.js$|\.html$/.test(file));
  const lines = ofPage.reduce((sum, file) => sum + linesOf(file), 0);
  assert.ok(lines <= 300, `${lines} lines`);
});

it('The guide "Chat" has the files of the example chat_node', () => {
  const files = stepsOf(GUIDE).flatMap((step) => (step.kind === 'file' ? [step] : []));
  for (const { name, text } of files) {
    assert.equal(text, readFileSync(join(root, 'examples/chat_node', name), 'utf8'), name);
  }
  const others = ['README.md', 'package.json', 'tsconfig.json'];
  assert.deepEqual(
    [...files.map(({ name }) => name), ...others].sort(),
    filesOfExample('chat_node')
      .map((file) => file.replaceAll('\\', '/'))
      .sort(),
  );
});

describe('The guide "Chat" makes a page that', { timeout: 300_000 }, () => {
  let folder: string;
  let port: string;
  let server: ChildProcess | undefined;
  let browser: Browser;
  let other: Browser;

  before(async () => {
    // The server is started below.
    const instead = (command: string): boolean => command.includes('server.ts');
    folder = await follow(GUIDE, { packages: PACKAGES.map(installPackages), instead });
    port = String(await freePort());
    await start();
    [browser, other] = await Promise.all([openBrowser('chromium'), openBrowser('chromium')]);
  });
  after(async () => {
    await Promise.all([browser.close(), other.close()]);
    server?.kill('SIGKILL');
  });

  async function start(secret = 'a secret'): Promise<void> {
    // With a key, Gemini would answer.
    const clean = { ...process.env, GOOGLE_API_KEY: '' };
    const env = {
      ...clean,
      PORT: port,
      SECRET: secret,
      DATABASE_URL: `sqlite:${folder}/chat.db`,
    };
    const args = ['--import', 'tsx', 'server.ts'];
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] }); // prettier-ignore
    server = child;
    await once(child.stdout, 'data');
  }

  async function stop(signal: NodeJS.Signals): Promise<unknown> {
    const ended = once(server!, 'exit');
    server!.kill(signal);
    return (await ended)[0];
  }

  /** Opens the page, and signs in. */
  async function open(device: Browser, user: string): Promise<Page> {
    const page = await device.openTab(`http://127.0.0.1:${port}/`);
    const isSignedIn = `document.querySelector('footer') !== null`;
    await until(page, `document.querySelector('.sign-in') !== null || ${isSignedIn}`);
    if (await page.evaluate<boolean>(isSignedIn)) await click(page, 'footer button', 'Sign out');
    await until(page, `document.querySelector('.sign-in') !== null`);
    await page
      .evaluate(
        `(() => {
      const form = document.querySelector('.sign-in');
      form.querySelector('input').value = '${user}';
      form.requestSubmit();
    })()`,
      )
      .catch(() => undefined);
    await until(page, `document.querySelector('form [name=text]') !== null`);
    return page;
  }

  const lines = (page: Page, ...texts: string[]) => shows(page, '.stored', texts);
  const settled = (page: Page) => shows(page, 'output', ['online, 0 waiting']);

  it('names the packages that it needs, and has sound types', () => {
    const copy = copyExample('chat_node');
    for (const source of PACKAGES.map(installPackages))
      linkPackages(copy, source, packagesOf(source));
    assertManifest('chat_node', copy);
    checkTypes(copy);
  });

  it('streams, stops, edits, answers again, and switches between the versions', async () => {
    const page = await open(browser, 'ada');
    await record(page, '.draft');
    await say(page, MANY_WORDS);
    const answer = `guide You said: ${MANY_WORDS}`;
    await lines(page, `user ${MANY_WORDS}`, answer);
    await assertStreamed(page, answer);
    await shows(page, '.title', [MANY_WORDS]);

    await click(page, 'li button', 'Edit');
    await say(page, 'Green tea?');
    await lines(page, 'user Green tea?', 'guide You said: Green tea?');
    await shows(page, '.turn', ['‹ 2/2 ›']);
    await click(page, 'li button', 'Answer again');
    await shows(page, '.turn', ['‹ 3/3 ›']);
    await lines(page, 'user Green tea?', 'guide You said: Green tea?');
    for (const number of [2, 1]) {
      await click(page, '.turn button', '‹');
      await shows(page, '.turn', [`‹ ${number}/3 ›`]);
    }
    await lines(page, `user ${MANY_WORDS}`, answer);

    await say(page, `${MANY_WORDS} stop`);
    await until(page, `document.querySelector('.draft') !== null`);
    await click(page, 'form button', 'Stop');
    await until(
      page,
      `[...document.querySelectorAll('.stored')].at(-1).textContent.includes('(stopped)')`,
    );
    await settled(page);
  });

  it('orders a tea once the guest confirms it', async () => {
    const page = await open(browser, 'bob');
    await say(page, 'order oolong');
    await until(page, `document.querySelector('.question')?.textContent.includes('oolong')`);
    await click(page, '.question button', 'Yes');
    await lines(page, 'user order oolong', 'guide One oolong is on its way.');
    await shows(page, '.question', []);
  });

  it('shows on another device what one device does', async () => {
    const page = await open(browser, 'eva');
    await say(page, 'Hello');
    await lines(page, 'user Hello', 'guide You said: Hello');
    await settled(page);
    const second = await open(other, 'eva');
    await click(second, '.title', 'Hello');
    await lines(second, 'user Hello', 'guide You said: Hello');
    await say(second, 'Me too');
    const all = ['user Hello', 'guide You said: Hello', 'user Me too', 'guide You said: Me too'];
    await lines(page, ...all);
    await record(page, '.draft');
    await say(second, MANY_WORDS);
    const answer = `guide You said: ${MANY_WORDS}`;
    await lines(page, ...all, `user ${MANY_WORDS}`, answer);
    await assertStreamed(page, answer);
  });

  it('shows the whole answer after a reload in the middle of it', async () => {
    const page = await open(browser, 'lea');
    await say(page, MANY_WORDS);
    await until(page, `document.querySelector('.draft') !== null`);
    const address = await page.evaluate<string>('location.href');
    await page.open('about:blank');
    await page.open(address);
    await click(page, '.title', MANY_WORDS);
    await lines(page, `user ${MANY_WORDS}`, `guide You said: ${MANY_WORDS}`);
    await settled(page);
  });

  it('opens without its server, keeps a message, and answers it when the server is back', async () => {
    const page = await open(browser, 'kim');
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
    await say(page, 'Hello');
    const first = ['user Hello', 'guide You said: Hello'];
    await lines(page, ...first);
    await settled(page);

    await say(page, MANY_WORDS);
    await until(page, `document.querySelector('.draft') !== null`);
    await stop('SIGKILL');
    const address = await page.evaluate<string>('location.href');
    await page.open('about:blank');
    await page.open(address);
    await click(page, '.title', 'Hello');
    await lines(page, ...first, `user ${MANY_WORDS}`);

    await start();
    await until(page, `document.querySelector('[role=alert]')?.textContent.includes('no answer')`);
    await click(page, '[role=alert] button', 'Again');
    const second = [...first, `user ${MANY_WORDS}`, `guide You said: ${MANY_WORDS}`];
    await lines(page, ...second);
    await settled(page);

    await stop('SIGKILL');
    await say(page, 'Are you there?');
    await lines(page, ...second, 'user Are you there?');
    await until(page, `document.querySelector('output').textContent.startsWith('offline')`);
    await start();
    const all = [...second, 'user Are you there?', 'guide You said: Are you there?'];
    await lines(page, ...all);
    await settled(page);
    assert.equal(await stop('SIGTERM'), 0);

    // The cookie is no longer valid.
    await start('another secret');
    await until(page, `document.querySelector('footer .sign-in') !== null`);
    await lines(page, ...all);
  });
});
