// The example for Next: its client component is rendered on the server, and its routes run there.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from '../../browser/browser.js';
import { assertStreamed, MANY_WORDS, record, say, shows, until } from '../../browser/chat_page.js';
import { assertManifest, copyExample } from '../examples/example.js';
import { NEXT_ENV } from './frameworks.js';
import { type Host, projectWith, runQuietly } from './host.js';
import { withServer } from './servers/host_server.js';

async function check(): Promise<string> {
  const project = projectWith('next');
  const folder = copyExample('next_app', join(project.folder, 'next_app'));
  assertManifest('next_app', folder);
  // The one beside it is the same, and next to React.
  rmSync(join(folder, 'node_modules'), { recursive: true });
  const bin = project.require.resolve('next/dist/bin/next');
  const env = { ...NEXT_ENV, NODE_ENV: 'production' } as const;
  // The driver for SQLite is compiled for this Node.
  const node = process.execPath;
  await runQuietly(node, [bin, 'build'], folder, env);
  const args = [bin, 'start', '--port', '0', '--hostname', '127.0.0.1'];
  const drive = async (origin: string): Promise<void> => {
    assert.match(await (await fetch(origin)).text(), /Loading…/);
    const stranger = await fetch(`${origin}/api/apps/chat/users/eve/sessions`);
    assert.equal(stranger.status, 403);
    const browser = await openBrowser('chromium');
    try {
      const page = await browser.openTab(origin);
      const other = await browser.openTab(origin);
      for (const tab of [page, other]) await until(tab, `document.querySelector('p') === null`);
      await record(page, '.draft');
      await say(page, MANY_WORDS);
      const answer = `guide You said: ${MANY_WORDS}`;
      const turn = [`user ${MANY_WORDS}`, answer];
      await shows(page, '.stored', turn);
      await shows(other, '.stored', turn);
      await until(page, `document.querySelector('.draft') === null`);
      await assertStreamed(page, answer);
      await page.open(origin);
      await shows(page, '.stored', turn);
    } finally {
      await browser.close();
    }
  };
  await withServer(folder, args, env, drive, node);
  return 'streams, shows other tabs, keeps its sessions';
}

export const NEXT_EXAMPLE: Host = { name: 'the example next_app', check };
