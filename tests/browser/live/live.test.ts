// Live sessions over IndexedDB in two tabs: what one does is on the screen of the other.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { build } from 'esbuild';

import { root } from '../../toolchain/environment.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { html, serve, type Server } from '../server.js';
import type { LiveScenarios } from './page/main.js';

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['tests/browser/live/page/main.ts'],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

describe('Live sessions in two tabs', () => {
  let site: Server;
  before(async () => {
    site = await serve({
      '/': html(
        '<!doctype html><meta charset="utf-8"><body><script type="module" src="/main.js"></script>',
      ),
      '/main.js': { body: await bundle() },
    });
  });
  after(() => site.close());

  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(name)));
      after(() => browser.close());

      it('show what the other tab does', async (t) => {
        const urls = [`${site.origin}/`, `${site.origin}/`];
        await inTabs<LiveScenarios>(browser, urls, async ([one, other]) => {
          assert.ok(one !== undefined && other !== undefined);
          await one.call('waitFor', 'missing');
          await other.call('waitFor', 'missing');
          const delays: number[] = [];
          for (let turn = 1; turn <= 10; turn += 1) {
            const [from, to] = turn % 2 === 1 ? [one, other] : [other, one];
            const sent = await from.call('send', `e${turn}`);
            const shown = await to.call('waitFor', `e${turn}`);
            delays.push(shown - sent);
          }
          t.diagnostic(`from the call to the other screen: ${delays.join(', ')} ms`);
          await one.call('rename', 'Tea');
          await other.call('waitFor', 'Tea');
          await other.call('setName', 'Ada');
          for (const tab of [one, other]) await tab.call('waitFor', '{"user:name":"Ada"}');
          const lines = await one.call('lines');
          const ids = Array.from({ length: 10 }, (_, index) => `e${index + 1}`);
          // The state was set by an event of its own.
          assert.deepEqual(lines.slice(3, 13), ids);
          assert.deepEqual(await other.call('lines'), lines);
          await one.call('remove');
          await other.call('waitFor', 'deleted');
        });
      });
    });
  }
});
