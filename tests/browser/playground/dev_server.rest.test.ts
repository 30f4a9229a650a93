// The development server of `npm run playground`.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { root } from '../../toolchain/environment.mjs';
import { openBrowser } from '../browser.js';
import { say, until } from '../chat_page.js';

it('npm run playground serves the page', async () => {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const args = [vite, 'dev', 'examples/playground', '--host', '127.0.0.1'];
  const env = { ...process.env, NO_COLOR: '1' };
  const server = spawn(process.execPath, args, { cwd: root, env });
  const ended = once(server, 'exit');
  let address: string;
  try {
    let printed = '';
    const url = new Promise<string>((resolve, reject) => {
      const read = (text: string): void => {
        printed += text;
        const [found] = /http:\/\/127\.0\.0\.1:\d+\//.exec(printed) ?? [];
        if (found !== undefined) resolve(found);
      };
      server.stdout.setEncoding('utf8').on('data', read);
      server.stderr.setEncoding('utf8').on('data', read);
      void ended.then(() => reject(new Error(`the server ended: ${printed}`)));
    });
    address = await url;
    const browser = await openBrowser('chromium');
    try {
      const page = await browser.openTab(`${address}#dev`);
      await until(page, `document.querySelectorAll('#suggestions button').length > 0`);
      await say(page, 'I would like something mild');
      await until(page, `document.querySelectorAll('#messages .stored').length === 4`);
    } finally {
      await browser.close();
    }
  } finally {
    server.kill();
    await ended;
  }
  await assert.rejects(fetch(address), 'the server still runs');
});
