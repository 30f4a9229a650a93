// Each example that is a whole program: installed, built, started, and driven in Chromium. The example for Next is among
// the hosts that take long (hosts/next_example.ts).

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Browser, openBrowser } from '../../browser/browser.js';
import { assertStreamed, record, say, shows, until } from '../../browser/chat_page.js';
import { html, serve } from '../../browser/server.js';
import { startApiServer } from '../../interop/api_server/api_server.js';
import { freePort } from '../../js/stores/database/servers.js';
import { install } from '../installed.js';
import { assertManifest, buildWithVite, checkTypes, copyExample, EXAMPLE_NAMES, linesOfCode } from './example.js'; // prettier-ignore

it('Every example is short', () => {
  assert.deepEqual(EXAMPLE_NAMES.length, 4);
  // A server of 80 lines, a page of 415 and an agent; see chat_node.rest.test.ts.
  const limits: Readonly<Record<string, number>> = { chat_node: 540 };
  for (const name of EXAMPLE_NAMES) {
    const lines = linesOfCode(name);
    assert.ok(lines <= (limits[name] ?? 150), `${name} has ${lines} lines of code`);
  }
});

describe('The example', { timeout: 300_000 }, () => {
  let browser: Browser;
  before(async () => (browser = await openBrowser('chromium')));
  after(() => browser.close());

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
      await say(page, 'I order a pot.');
      await shows(page, '#questions button', ['Yes, order', 'No, order']);
      await page.evaluate(`document.querySelector('#questions button').click()`);
      all.push('user: I order a pot.', 'tea_house: The kitchen says: a pot of tea.');
      await shows(page, '.stored', all);
      await shows(page, 'nav a', ['tea']);

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
