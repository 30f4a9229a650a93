// Each example that is a whole program: installed, built, started, and driven in Chromium. The example for Next is among
// the hosts that take long (hosts/next_example.ts).

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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
import { html, serve } from '../../browser/server.js';
import { startApiServer } from '../../interop/api_server/api_server.js';
import { emptied, freePort, startPostgres } from '../../js/stores/database/servers.js';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { install } from '../installed.js';
import { assertManifest, buildWithVite, checkTypes, copyExample, EXAMPLE_NAMES, linesOfCode, linkPackages } from './example.js'; // prettier-ignore

it('Every example is short', () => {
  assert.deepEqual(EXAMPLE_NAMES.length, 5);
  for (const name of EXAMPLE_NAMES) {
    const lines = linesOfCode(name);
    assert.ok(lines <= 150, `${name} has ${lines} lines of code`);
  }
});

describe('The example', { timeout: 300_000 }, () => {
  let browser: Browser;
  before(async () => (browser = await openBrowser('chromium')));
  after(() => browser.close());

  it('chat_react streams answers, and keeps conversations with titles', async () => {
    const folder = copyExample('chat_react');
    linkPackages(folder, installPackages('vite_react'), ['@vitejs/plugin-react']);
    assertManifest('chat_react', folder);
    checkTypes(folder);
    const server = await serve({ '/': buildWithVite(folder) });
    try {
      const page = await browser.openTab(`${server.origin}/`);
      await until(page, `document.querySelector('form') !== null`);
      // To look at the name makes no conversation.
      const leaveName = `document.querySelector('label input').dispatchEvent(new FocusEvent('focusout', { bubbles: true }))`;
      await page.evaluate(leaveName);
      await click(page, 'nav button', 'New chat');
      await record(page, '.draft');
      await say(page, MANY_WORDS);
      await shows(page, '.title', [MANY_WORDS]);
      const answer = `guide Dear guest, you said: ${MANY_WORDS}`;
      await shows(page, '.stored', [`user ${MANY_WORDS}`, answer]);
      await assertStreamed(page, answer);
      await shows(page, 'h1', [MANY_WORDS]);
      await page.evaluate(`(() => {
        const input = document.querySelector('label input');
        input.value = 'Ada';
        input.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
      })()`);
      // React has rendered the stored value.
      await until(page, `document.querySelector('label input').getAttribute('value') === 'Ada'`);

      const other = await browser.openTab(`${server.origin}/`);
      await until(other, `document.querySelector('form') !== null`);
      await say(other, 'And here?');
      await shows(page, '.title', ['And here?', MANY_WORDS]);
      await click(page, '.title', 'And here?');
      await shows(page, '.stored', ['user And here?', 'guide Dear Ada, you said: And here?']);
      await click(page, 'p button:not(.title)', 'Delete');
      await shows(other, '.title', [MANY_WORDS]);

      await page.open(`${server.origin}/`);
      await click(page, '.title', MANY_WORDS);
      await shows(page, '.stored', [`user ${MANY_WORDS}`, answer]);
    } finally {
      await server.close();
    }
  });

  it('plain_page works as npm installs and starts it, and shows what another tab does', async () => {
    const folder = copyExample('plain_page');
    // As its README says: the packed package lies beside package.json.
    copyFileSync(install().archive, join(folder, basename(install().archive)));
    const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--legacy-peer-deps'];
    execFileSync('npm', ['install', ...flags], { cwd: folder, stdio: 'pipe' });
    assertManifest('plain_page', folder);
    const port = await freePort();
    const program = join(folder, 'node_modules/.bin/http-server');
    const server = spawn(program, ['-c-1', '-p', String(port), '-a', '127.0.0.1'], { cwd: folder });
    try {
      await once(server.stdout, 'data');
      const url = `http://127.0.0.1:${port}/`;
      const one = await browser.openTab(url);
      const other = await browser.openTab(url);
      for (const page of [one, other]) await until(page, `!document.querySelector('form').hidden`);
      await say(one, 'buy milk');
      const turn = ['user: buy milk', 'clerk: 1 events. You keep this list: ["milk"]'];
      await shows(other, 'li', turn);
      await say(other, 'buy tea');
      await shows(one, 'output', ['milk, tea']);
      const twice = ['buy bread', 'buy jam'].map((text) => `input.value = '${text}'; input.form.requestSubmit();`); // prettier-ignore
      await one.evaluate(`{ const input = document.querySelector('form [name=text]'); ${twice.join('')} }`); // prettier-ignore
      await shows(other, 'output', ['milk, tea, bread, jam']);
      await one.open(url);
      await until(one, `document.querySelectorAll('li').length === 8`);
    } finally {
      server.kill('SIGKILL');
    }
  });

  it('chat_node streams from its server, and keeps the chats of a browser in PostgreSQL', async () => {
    const folder = copyExample('chat_node');
    const tools = installPackages('session_handler');
    linkPackages(folder, tools, ['hono', '@hono/node-server']);
    assertManifest('chat_node', folder);
    checkTypes(folder);
    const postgres = await startPostgres();
    const port = String(await freePort());
    const env = { ...process.env, PORT: port, DATABASE_URL: await emptied('postgresql', postgres) };
    const args = ['--import', 'tsx', 'server.ts'];
    const server = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] }); // prettier-ignore
    try {
      await once(server.stdout, 'data');
      const url = `http://127.0.0.1:${port}/`;
      const page = await browser.openTab(url);
      await until(page, `!document.querySelector('form').hidden`);
      await record(page, 'li:last-child');
      await say(page, MANY_WORDS);
      const answer = `Message 1 was: ${MANY_WORDS}`;
      await shows(page, 'li', [MANY_WORDS, answer]);
      await shows(page, 'nav a', ['New chat', MANY_WORDS]);
      await assertStreamed(page, answer);
      await click(page, 'nav a', 'New chat');
      await shows(page, 'li', []);
      await say(page, 'Another');
      await shows(page, 'nav a', ['New chat', 'Another', MANY_WORDS]);
      await page.open(url);
      await click(page, 'nav a', MANY_WORDS);
      await shows(page, 'li', [MANY_WORDS, answer]);
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      assert.deepEqual(await ended, [0, null]);
    } finally {
      server.kill('SIGKILL');
      await postgres.remove();
    }
  });

  it('python_and_browser streams from adk api_server, and shows its copy without it', async () => {
    const folder = copyExample('python_and_browser');
    assertManifest('python_and_browser', folder);
    checkTypes(folder);
    const site = await serve({ '/': html('') });
    const agents = await startApiServer(`sqlite+aiosqlite:///${folder}/sessions.db`, site.origin, join(folder, 'agents')); // prettier-ignore
    try {
      site.routes['/'] = buildWithVite(folder, { VITE_AGENTS: agents.url });
      const page = await browser.openTab(`${site.origin}/`);
      await record(page, '.draft');
      await say(page, 'Hello!');
      const first = ['user: Hello!', 'tea_house: Offer cup number 1 of tea.'];
      await shows(page, '.stored', first);
      await assertStreamed(page, 'tea_house: Offer cup number 1 of tea.');
      await say(page, 'Another!');
      const all = [...first, 'user: Another!', 'tea_house: Offer cup number 2 of tea.'];
      await shows(page, '.stored', all);
      await until(page, `document.title === '2 cups of tea'`);

      await agents.end();
      await page.open(`${site.origin}/`);
      await shows(page, '.stored', all);
      await say(page, 'Are you there?');
      await shows(page, '[role=status]', ['The agents cannot be reached now.']);
    } finally {
      await site.close();
      await agents.end();
    }
  });
});
