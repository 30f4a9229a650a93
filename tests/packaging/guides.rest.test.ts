// Each guide, followed to the letter in an empty folder, with the package as npm packs it.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { openBrowser } from '../browser/browser.js';
import { html, serve } from '../browser/server.js';
import { python } from '../interop/python.js';
import { emptied, startPostgres } from '../js/database/servers.js';
import { root } from '../toolchain/environment.mjs';
import { follow, stepsOf } from './guide.js';

const PATIENCE = { timeout: 240_000 };

const TESTED = [
  ...['a_chat_in_react.md', 'beside_python.md', 'from_adk_services.md', 'sessions_on_a_server.md'],
  'without_an_adk.md',
];

it('Every guide is followed by a test, and has files and commands', () => {
  assert.deepEqual(readdirSync(join(root, 'docs/guides')).sort(), TESTED);
  for (const guide of TESTED) {
    const kinds = stepsOf(guide).map(({ kind }) => kind);
    assert.ok(kinds.filter((kind) => kind === 'file').length > 1, guide);
    assert.ok(kinds.filter((kind) => kind === 'command').length > 2, guide);
  }
});

describe('The guide', () => {
  it('"Without an ADK" prints what it says', PATIENCE, async () => {
    await follow('without_an_adk.md');
  });

  it('"From @google/adk\'s services" runs', PATIENCE, async () => {
    await follow('from_adk_services.md');
  });

  it('"Beside Python" prints what it says', PATIENCE, async () => {
    const env = { PATH: `${dirname(python)}${delimiter}${process.env.PATH ?? ''}` };
    // tests/toolchain/setup/setup.sh has installed the packages.
    await follow('beside_python.md', { env, instead: (command) => command.startsWith('pip ') });
  });

  it('"Sessions on a server" answers in a stream, and shuts down', PATIENCE, async () => {
    const server = await startPostgres();
    try {
      const url = await emptied('postgresql', server);
      const programs = process.env.POSTGRES_PROGRAMS ?? '';
      const env = {
        ADMIN_URL: url,
        SESSIONS: url.replace('adk@', 'server@'),
        PORT: '0',
        PATH: `${programs}${delimiter}${process.env.PATH ?? ''}`,
      };
      await follow('sessions_on_a_server.md', {
        env,
        async instead(command, folder, env) {
          if (command !== 'npx tsx server.ts') return false;
          const child = spawn(process.execPath, ['--import', 'tsx', 'server.ts'], {
            cwd: folder,
            env,
            stdio: ['ignore', 'pipe', 'inherit'],
          });
          try {
            await talkTo(child);
          } finally {
            child.kill('SIGKILL');
          }
          return true;
        },
      });
    } finally {
      await server.remove();
    }
  });

  it('"A chat in React" makes a page whose chat outlives a reload', PATIENCE, async () => {
    const folder = join(await follow('a_chat_in_react.md'), 'dist');
    const page = readFileSync(join(folder, 'index.html'), 'utf8');
    const server = await serve({
      '/': folder,
      '/first': html(page + chatting(['Hello!', 'And again'])),
      '/later': html(page + chatting([])),
      '/deleted': html(page + deleting()),
    });
    const browser = await openBrowser('chromium');
    try {
      const texts = ['Hello!', 'This is answer 1.', 'And again', 'This is answer 2.'];
      assert.deepEqual(await browser.value(`${server.origin}/first`), texts);
      assert.deepEqual(await browser.value(`${server.origin}/later`), texts);
      assert.deepEqual(await browser.value(`${server.origin}/deleted`), {
        problem: 'This conversation was deleted.',
        titles: 0,
      });
    } finally {
      await browser.close();
      await server.close();
    }
  });
});

/** Sends two messages to the guide's server, reads what it reports, and ends it as an operator does. */
async function talkTo(child: ChildProcess): Promise<void> {
  const lines = createInterface({ input: child.stdout! });
  const ended = once(child, 'exit').then(([code]) => assert.fail(`the server ended with ${code}`));
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  ended.catch(() => undefined);
  const origin = `http://127.0.0.1:${line.replace('listening on ', '')}`;
  const post = async (text: string): Promise<string> => {
    const url = `${origin}/users/ada/sessions/s1`;
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ text }) });
    return response.text();
  };
  assert.match(
    await post('Hello!'),
    /^event: word\ndata: Your\n\n.*\n\nevent: done\ndata: [\w-]+\n\n$/s,
  );
  assert.match(await post('Again'), /data: {2}2\./);
  const list = (await (await fetch(`${origin}/users/ada/sessions`)).json()) as { id: string }[];
  assert.deepEqual(
    list.map(({ id }) => id),
    ['s1'],
  );
  const health = await fetch(`${origin}/health`);
  assert.deepEqual([health.status, ((await health.json()) as { isOk: boolean }).isOk], [200, true]);
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  assert.match(metrics, /session_calls_total\{method="appendEvent",code="ok"\} 4/);
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 0);
}

/**
 * A script for the chat's page. It sends messages, or without any opens the newest conversation by its title, and
 * reports all texts of the chat.
 */
function chatting(messages: readonly string[]): string {
  return `<script type="module">${FINDING}
    const chat = async (messages) => {
      const input = await until(() => document.querySelector('input'));
      if (messages.length === 0) {
        (await until(() => document.querySelector('.title'))).click();
        await until(() => stored().length > 0);
      }
      for (const [index, message] of messages.entries()) {
        input.value = message;
        input.form.requestSubmit();
        await until(() => stored().length === 2 * (index + 1));
      }
      return stored().map((item) => item.innerText);
    };
    globalThis.report = chat(${JSON.stringify(messages)});
  </script>`;
}

/** A script that deletes the conversation that is shown, and sends a message to it. */
function deleting(): string {
  return `<script type="module">${FINDING}
    const send = async () => {
      (await until(() => document.querySelector('.title'))).click();
      await until(() => stored().length > 0);
      document.querySelector('.title + button').click();
      await until(() => stored().length === 0 && document.querySelector('.title') === null);
      const input = document.querySelector('input');
      input.value = 'Hello?';
      input.form.requestSubmit();
      const { innerText: problem } = await until(() => document.querySelector('[role=alert]'));
      const buttonOf = (text) => [...document.querySelectorAll('li button')].find((button) => button.innerText === text);
      buttonOf('Retry').click();
      await until(() => {
        buttonOf('Discard')?.click();
        return document.querySelector('li, [role=alert]') === null;
      });
      return { problem, titles: document.querySelectorAll('.title').length };
    };
    globalThis.report = send();
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
  const stored = () => [...document.querySelectorAll('li:not(.streamed, .unsent)')];`;
