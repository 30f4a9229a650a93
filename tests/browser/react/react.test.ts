// The hooks in real pages, with React 18 and React 19.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build } from 'esbuild';

import { root } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { html, serve, type Server } from '../server.js';
import type { Tab } from '../tab.js';
import type { ReactScenarios } from './page/main.js';

/** The folder of node_modules with each version. React 19 is what the sources are compiled with. */
const VERSIONS = {
  'React 18': (): string => {
    const folder = installPackages('react_18', { react: '18.3.1', 'react-dom': '18.3.1' });
    return join(folder, 'node_modules');
  },
  'React 19': (): string => join(root, 'node_modules'),
};

async function bundle(modules: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['tests/browser/react/page/main.ts'],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    // As it is shipped: the development build renders everything twice in StrictMode.
    define: { 'process.env.NODE_ENV': '"development"' },
    alias: {
      react: join(modules, 'react'),
      'react-dom': join(modules, 'react-dom'),
    },
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

for (const [version, modulesOf] of Object.entries(VERSIONS)) {
  let site: Server;
  before(async () => {
    site = await serve({
      '/': html(
        '<!doctype html><meta charset="utf-8"><body><script type="module" src="/main.js"></script>',
      ),
      '/main.js': { body: await bundle(modulesOf()) },
    });
  });
  after(() => site.close());

  for (const name of BROWSERS) {
    describe(`${version} in ${name}`, () => {
      let browser: Browser;
      let tab: Tab<ReactScenarios>;
      before(async () => {
        const forHeap = ['--js-flags=--expose-gc', '--enable-precise-memory-info'];
        browser = await openBrowser(name, name === 'chromium' ? { arguments: forHeap } : {});
        tab = await browser.openTab(`${site.origin}/`);
      });
      after(() => browser.close());

      it('shows a session, sends, changes its state, and leaves nothing behind', async () => {
        const shown = await tab.call('converse');
        assert.deepEqual(shown, ['ready 2 none', 'ready 5 tea', 'true', 'false']);
      });

      it('never shows two states of a session at once', async () => {
        const { torn, commits } = await tab.call('tear', false);
        assert.equal(torn, 0);
        assert.ok(commits >= 8, `${commits} commits`);
        // The same page shows tearing if a component reads the store past the hook.
        assert.ok((await tab.call('tear', true)).torn > 0);
      });

      it('may unmount in the middle of the first read', async () => {
        assert.deepEqual(await tab.call('leaveEarly'), []);
      });

      it('suspends until the session has been read', async () => {
        assert.deepEqual(await tab.call('suspend'), ['wait', 'ready 2', 'ready 3']);
      });

      it('suspends until more sessions have been read than are kept without subscribers', async () => {
        assert.equal(await tab.call('suspendMany', 50), 50);
      });

      it('takes over what the server rendered', async () => {
        assert.deepEqual(await tab.call('hydrate'), []);
      });

      it('shows many sessions one after the other, and keeps few stores', async () => {
        // Only Chromium is told to collect garbage, and tells how large its heap is.
        const count = name === 'chromium' && version === 'React 19' ? 1000 : 200;
        const { shown, isWatched, kept, growth } = await tab.call('switchSessions', count);
        assert.deepEqual([shown, isWatched], [count, false]);
        if (name !== 'chromium') return;
        assert.ok(kept <= 25, `${kept} stores`);
        // The sessions that were shown since have 18 MB.
        assert.ok(growth < 2_000_000, `${growth} bytes`);
      });
    });
  }
}
