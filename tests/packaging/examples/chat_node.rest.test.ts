// The guide "Chat", followed to the letter: its page in Chromium over its server, which is killed on the way. Its files are the
// example chat_node.

import assert from 'node:assert/strict';
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
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { root } from '../../toolchain/environment.mjs';
import { stepsOf } from '../docs/guide.js';
import { ChatSite, GUIDE, lines, PACKAGES, reopen, settled } from './chat_site.js';
import { assertManifest, checkTypes, copyExample, filesOfExample, linkPackages } from './example.js'; // prettier-ignore

const packagesOf = (folder: string): string[] =>
  ['fastify', '@fastify/static', '@vitejs/plugin-react'].filter((name) =>
    existsSync(join(folder, 'node_modules', name)),
  );

const linesOf = (file: string): number =>
  readFileSync(join(root, 'examples/chat_node', file), 'utf8')
    .trimEnd()
    .split('\n').length;

it('The example chat_node has a server of 80 lines and a page of 415', () => {
  assert.ok(linesOf('server.ts') <= 80);
  const ofPage = filesOfExample('chat_node').filter((file) => /\.(?:tsx|js|html)$/.test(file));
  const count = ofPage.reduce((sum, file) => sum + linesOf(file), 0);
  assert.ok(count <= 415, `${count} lines`);
});

it('The page "Chat" copies the files of the example chat_node, and quotes them', () => {
  const files = filesOfExample('chat_node').map((file) => file.replaceAll('\\', '/'));
  const commands = stepsOf(GUIDE).flatMap((step) =>
    step.kind === 'command' ? [step.command] : [],
  );
  const [, copied = ''] = /examples\/chat_node\/\{([^}]+)\}/.exec(commands.join('\n')) ?? [];
  const others = ['README.md', 'package.json', 'tsconfig.json'];
  const isCopied = (file: string) =>
    copied.split(',').some((name) => `${file}/`.startsWith(`${name}/`));
  assert.deepEqual(files.filter((file) => !isCopied(file)).sort(), others);

  // Prettier takes the indentation of a quote away.
  const flat = (text: string) => text.replace(/^ +/gm, '');
  const program = files.map((file) =>
    flat(readFileSync(join(root, 'examples/chat_node', file), 'utf8')),
  );
  const page = readFileSync(join(root, 'docs/chat.md'), 'utf8');
  const quotes = [...page.matchAll(/^```(?:typescript|tsx)\n(.*?)^```$/gms)].map(
    ([, text = '']) => text,
  );
  assert.ok(quotes.length > 4);
  for (const quote of quotes)
    assert.ok(
      program.some((text) => text.includes(flat(quote))),
      quote,
    );
});

describe('The guide "Chat" makes a page that', { timeout: 300_000 }, () => {
  let site: ChatSite;
  let browser: Browser;
  let other: Browser;

  before(async () => {
    site = await ChatSite.build();
    [browser, other] = await Promise.all([openBrowser('chromium'), openBrowser('chromium')]);
  });
  after(async () => {
    await Promise.all([browser.close(), other.close()]);
    await site.stop('SIGKILL');
  });

  it('names the packages that it needs, and has sound types', () => {
    const copy = copyExample('chat_node');
    for (const source of PACKAGES.map(installPackages))
      linkPackages(copy, source, packagesOf(source));
    assertManifest('chat_node', copy);
    checkTypes(copy);
  });

  it('streams, stops, edits, answers again, and switches between the versions', async () => {
    const page = await site.open(browser, 'ada');
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
    const page = await site.open(browser, 'bob');
    await say(page, 'order oolong');
    await until(page, `document.querySelector('.question')?.textContent.includes('oolong')`);
    await click(page, '.question button', 'Yes');
    await lines(page, 'user order oolong', 'user Yes', 'guide One oolong is on its way.');
    await shows(page, '.question', []);
  });

  it('shows a picture under its message, on another device too, and keeps it when the text is edited', async () => {
    const page = await site.open(browser, 'fay');
    const widths = `[...document.querySelectorAll('li img')].map((image) => image.naturalWidth).join()`;
    await page.evaluate(`new Promise((resolve) => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 7 });
      canvas.toBlob((blob) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([blob], 'tea.png', { type: 'image/png' }));
        document.querySelector('form [name=file]').files = transfer.files;
        resolve();
      });
    })`);
    await say(page, 'What is it?');
    await lines(page, 'user What is it?', 'guide You said: What is it?');
    await until(page, `${widths} === '7'`);
    await shows(page, '.title', ['What is it?']);
    await settled(page);
    const second = await site.open(other, 'fay');
    await click(second, '.title', 'What is it?');
    await until(second, `${widths} === '7'`);
    await click(page, 'li button', 'Edit');
    await say(page, 'And now?');
    await lines(page, 'user And now?', 'guide You said: And now?');
    await until(page, `${widths} === '7'`);
  });

  it('shows on another device what one device does', async () => {
    const page = await site.open(browser, 'eva');
    await say(page, 'Hello');
    await lines(page, 'user Hello', 'guide You said: Hello');
    await settled(page);
    const second = await site.open(other, 'eva');
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
    const page = await site.open(browser, 'lea');
    await say(page, MANY_WORDS);
    await until(page, `document.querySelector('.draft') !== null`);
    await reopen(page);
    await lines(page, `user ${MANY_WORDS}`, `guide You said: ${MANY_WORDS}`);
    await settled(page);
  });

  it('opens without its server, keeps a message, and answers it when the server is back', async () => {
    const page = await site.open(browser, 'kim');
    await say(page, 'Hello');
    const first = ['user Hello', 'guide You said: Hello'];
    await lines(page, ...first);
    await settled(page);

    await say(page, MANY_WORDS);
    await until(page, `document.querySelector('.draft') !== null`);
    await site.stop('SIGKILL');
    await reopen(page);
    await lines(page, ...first, `user ${MANY_WORDS}`);

    await site.start();
    await until(page, `document.querySelector('[role=alert]')?.textContent.includes('no answer')`);
    await click(page, '[role=alert] button', 'Again');
    const second = [...first, `user ${MANY_WORDS}`, `guide You said: ${MANY_WORDS}`];
    await lines(page, ...second);
    await settled(page);

    await site.stop('SIGKILL');
    await say(page, 'Are you there?');
    await lines(page, ...second, 'user Are you there?');
    await until(page, `document.querySelector('output').textContent.startsWith('offline')`);
    await site.start();
    const all = [...second, 'user Are you there?', 'guide You said: Are you there?'];
    await lines(page, ...all);
    await settled(page);
    assert.equal(await site.stop('SIGTERM'), 0);

    // The cookie is no longer valid.
    await site.start('another secret');
    await until(page, `document.querySelector('footer .sign-in') !== null`);
    await lines(page, ...all);
  });
});
