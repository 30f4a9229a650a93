// The component of docs/live.md with the real Svelte, and snapshots that were held by Svelte, Vue, Immer and Zustand.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

import { root } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { serveModule, type Server } from '../server.js';
import type { Tab } from '../tab.js';
import type { SvelteScenarios } from './page/main.js';

interface Compiled {
  readonly js: { readonly code: string };
  readonly warnings: readonly { readonly message: string }[];
}

interface Compiler {
  readonly compile: (source: string, options: object) => Compiled;
  readonly compileModule: (source: string, options: object) => Compiled;
}

/** Takes the place of page/components.d.ts. */
const COMPONENTS = `
import { freeze, produce } from 'immer';
import { mount, unmount } from 'svelte';
import { reactive, readonly } from 'vue';
import { createStore } from 'zustand/vanilla';
import { hold } from './state.svelte.js';
import Runes from './runes.svelte';
import Store from './store.svelte';

const show = (component) => (target) => {
  const shown = mount(component, { target });
  return () => unmount(shown);
};
export const showStore = show(Store);
export const showRunes = show(Runes);
export const holders = {
  zustand: (value) => {
    const store = createStore(() => ({ value: null }));
    store.setState({ value });
    return structuredClone(store.getState().value);
  },
  vue: (value) => reactive({ value }).value,
  readonly: (value) => readonly({ value }).value,
  svelte: hold,
  immer: (value) => produce({ value: null }, (draft) => { draft.value = value; }).value,
  frozen: (value) => freeze(value, true),
};
`;

const STATE = `
export function hold(value) {
  const held = $state({ value });
  return held.value;
}
`;

/** A store under runes. */
const RUNES = `<script>
  import { liveSession } from 'adk-session-wasm/live';
  import { fromStore } from 'svelte/store';
  import { service } from './service';

  const store = liveSession(service, { appName: 'shop', userId: 'ada', sessionId: 's1' });
  const chat = fromStore(store);
  const last = $derived(chat.current.events.at(-1)?.content?.parts?.[0]?.text);
  const send = () => store.send({ author: 'user', content: { parts: [{ text: 'Green tea' }] } });
</script>

<p>{chat.current.events.length} events, the last: {last}</p>
<button onclick="{send}">Send</button>
`;

/** The component of the page about live sessions, and one with runes. */
function componentsOfDocs(): readonly [store: string, runes: string] {
  const docs = readFileSync(join(root, 'docs/live.md'), 'utf8');
  const [block] = [...docs.matchAll(/^```html\n(<script>.*?)^```$/gms)].map(
    ([, text = '']) => text,
  );
  assert.ok(block !== undefined);
  return [block, RUNES];
}

async function bundle(): Promise<string> {
  const folder = installPackages('svelte');
  const modules = join(folder, 'node_modules');
  const compiler = pathToFileURL(join(modules, 'svelte/src/compiler/index.js')).href;
  const { compile, compileModule } = (await import(compiler)) as Compiler;
  const [store, runes] = componentsOfDocs();
  const options = { generate: 'client', dev: false };
  const compiled = new Map(
    Object.entries({ './store.svelte': store, './runes.svelte': runes }).map(([name, source]) => [
      name,
      compile(source, { ...options, filename: name }),
    ]),
  );
  compiled.set(
    './state.svelte.js',
    compileModule(STATE, { ...options, filename: 'state.svelte.js' }),
  );
  assert.deepEqual(
    [...compiled.values()].flatMap(({ warnings }) => warnings.map(({ message }) => message)),
    [],
  );
  const texts = new Map([...compiled].map(([name, { js }]) => [name, js.code]));
  texts.set('./components.js', COMPONENTS);
  const page = join(root, 'tests/browser/svelte/page');
  const plugin: Plugin = {
    name: 'components',
    setup(build) {
      build.onResolve({ filter: /^\.\/(components\.js|.*\.svelte(\.js)?)$/ }, ({ path }) => ({
        path,
        namespace: 'components',
      }));
      build.onResolve({ filter: /^\.\/service$/ }, () => ({ path: join(page, 'service.ts') }));
      build.onLoad({ filter: /.*/, namespace: 'components' }, ({ path }) => ({
        contents: texts.get(path)!,
        resolveDir: page,
      }));
    },
  };
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(page, 'main.ts')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['browser'],
    nodePaths: [modules],
    plugins: [plugin],
    alias: {
      'adk-session-wasm/live': join(root, 'js/ui/live/index.ts'),
    },
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

describe('A page with Svelte', () => {
  let site: Server;
  before(async () => {
    site = await serveModule(await bundle());
  });
  after(() => site.close());

  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      let browser: Browser;
      let tab: Tab<SvelteScenarios>;
      before(async () => {
        browser = await openBrowser(name);
        tab = await browser.openTab(`${site.origin}/`);
      });
      after(() => browser.close());

      it('shows a live session as a store, and leaves nothing behind', async () => {
        assert.deepEqual(await tab.call('show', 'store'), {
          shown: [['Which tea?'], ['Which tea?', 'Oolong']],
          isWatched: false,
        });
      });

      it('shows a live session with runes, and leaves nothing behind', async () => {
        assert.deepEqual(await tab.call('show', 'runes'), {
          shown: [['1 events, the last: Green tea'], ['2 events, the last: Oolong']],
          isWatched: false,
        });
      });

      for (const [length, others] of [
        ['short', 1],
        ['long', 1500],
      ] as const) {
        it(`gives back snapshots of a ${length} session that libraries hold in forms of their own`, async () => {
          const expected = (title: string) => ({
            isSame: true,
            count: 2,
            isCopied: true,
            cart: { items: [1, { n: 2 }] },
            title,
            unsent: 0,
            isHeld: true,
          });
          const names = ['zustand', 'vue', 'readonly', 'svelte', 'immer', 'frozen'];
          const results = Object.fromEntries(names.map((name) => [name, expected(name)]));
          assert.deepEqual(await tab.call('giveBack', others), results);
        });
      }
    });
  }
});
