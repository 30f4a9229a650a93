// Each program that README.md or a page of docs/ builds step by step, followed to the letter in an empty folder, with the package as npm packs it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { openBrowser } from '../../browser/browser.js';
import { html, serve } from '../../browser/server.js';
import { python } from '../../interop/python.js';
import { follow, stepsOf } from './guide.js';

const PATIENCE = { timeout: 240_000 };

const TRY_IT = { page: '../README.md', section: 'Try it' };
const IN_A_PAGE = { page: 'start.md', section: 'In a page' };
const IN_NODE = { page: 'start.md', section: 'In Node' };
const WITH_ADK = { page: 'start.md', section: 'With @google/adk' };
const BESIDE_PYTHON = { page: 'migration.md', section: 'Beside Python' };

it('Every guide has files and commands', () => {
  for (const guide of [TRY_IT, IN_A_PAGE, IN_NODE, WITH_ADK, BESIDE_PYTHON]) {
    const kinds = stepsOf(guide).map(({ kind }) => kind);
    assert.ok(kinds.includes('file'), guide.section);
    assert.ok(kinds.filter((kind) => kind === 'command').length > 2, guide.section);
  }
});

describe('The guide', () => {
  it('"Try it" of README.md prints what it says', PATIENCE, async () => {
    await follow(TRY_IT);
  });

  it('"In Node" prints what it says', PATIENCE, async () => {
    await follow(IN_NODE);
  });

  it('"With @google/adk" prints what it says', PATIENCE, async () => {
    await follow(WITH_ADK);
  });

  it('"Beside Python" prints what it says', PATIENCE, async () => {
    const env = { PATH: `${dirname(python)}${delimiter}${process.env.PATH ?? ''}` };
    // tests/toolchain/setup/setup.sh has installed the packages.
    await follow(BESIDE_PYTHON, { env, instead: (command) => command.startsWith('pip ') });
  });

  it('"In a page" makes a page whose chat outlives a reload', PATIENCE, async () => {
    const folder = join(await follow(IN_A_PAGE), 'dist');
    const page = readFileSync(join(folder, 'index.html'), 'utf8');
    const server = await serve({
      '/': folder,
      '/first': html(page + chatting(['Hello!', 'And again'])),
      '/later': html(page + chatting([])),
    });
    const browser = await openBrowser('chromium');
    try {
      const texts = ['Hello!', 'This is answer 1.', 'And again', 'This is answer 2.'];
      assert.deepEqual(await browser.value(`${server.origin}/first`), texts);
      assert.deepEqual(await browser.value(`${server.origin}/later`), texts);
    } finally {
      await browser.close();
      await server.close();
    }
  });
});

/** A script for the chat's page. It sends messages, and reports all texts of the chat. */
function chatting(messages: readonly string[]): string {
  return `<script type="module">${FINDING}
    const chat = async (messages) => {
      const input = await until(() => document.querySelector('input'));
      if (messages.length === 0) await until(() => shown().length > 0);
      for (const [index, message] of messages.entries()) {
        input.value = message;
        input.form.requestSubmit();
        await until(() => shown().length === 2 * (index + 1));
      }
      return shown().map((item) => item.innerText);
    };
    globalThis.report = chat(${JSON.stringify(messages)});
  </script>`;
}

/** What the scripts of the page find in it. */
const FINDING = `
  const until = async (find) => {
    for (let tries = 0; tries < 400; tries += 1) {
      const found = find();
      if (found) return found;
      await new Promise((next) => setTimeout(next, 25));
    }
    throw new Error('not in the page: ' + find + document.body.innerText);
  };
  const shown = () => [...document.querySelectorAll('li')];`;
