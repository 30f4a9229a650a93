// The package in the three browsers, in a page and in a worker.
//
// The page loads js/dist/ as it is, file by file, with an import map. Its worker is bundled, since import
// maps do not reach workers.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { conformance } from 'adk-session-wasm/testing';
import { build, transform } from 'esbuild';
import { root } from '../toolchain/environment.mjs';
import { BROWSERS, openBrowser } from './browser.js';
import { PACKAGE_ROUTES, packagePage } from './package_page.js';
import { behaviours } from './page/behaviours.js';
import type { Places } from './page/main.js';
import { DURABILITIES, type Result } from './page/suite.js';
import { html, type Routes, serve, type Server } from './server.js';

const IMPORTS = {
  'adk-session-wasm': '/package/js/dist/index.js',
  'adk-session-wasm/history': '/package/js/dist/core/history/index.js',
  'adk-session-wasm/testing': '/package/js/dist/testing/index.js',
};

const PAGE = packagePage('/tests/browser/page/main.js', IMPORTS);

const EXAMPLES = ['map_storage', 'agent_loop', 'tea_shop'].map((name) => `examples/${name}.ts`);

/** TypeScript as a browser reads it, at the address that its imports expect. */
async function transpiled(files: string[]): Promise<Routes> {
  const routes: Routes = {};
  for (const file of files) {
    const { code } = await transform(readFileSync(join(root, file), 'utf8'), { loader: 'ts' });
    routes[`/${file.replace(/\.ts$/, '.js')}`] = { body: code };
  }
  return routes;
}

async function workerBundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'tests/browser/page/worker.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

async function servePage(): Promise<Server> {
  const folder = 'tests/browser/page';
  const files = readdirSync(join(root, folder)).map((file) => `${folder}/${file}`);
  files.push('tests/browser/indexed_db/page/bare.ts');
  return serve({
    '/': html(PAGE),
    '/worker.js': { body: await workerBundle() },
    ...(await transpiled([...files, ...EXAMPLES])),
    ...PACKAGE_ROUTES,
  });
}

describe('in the browsers', () => {
  let server: Server;
  before(async () => (server = await servePage()));
  after(() => server.close());

  for (const browserName of BROWSERS) {
    describe(browserName, () => {
      let places: Places | undefined;
      let databases: Places<Result[]> | undefined;
      before(async () => {
        const browser = await openBrowser(browserName);
        try {
          places = await browser.value<Places>(`${server.origin}/`);
          databases = await browser.value<Places<Result[]>>(`${server.origin}/?database`);
        } finally {
          await browser.close();
        }
      });

      for (const place of ['page', 'worker'] as const) {
        describe(`in a ${place}`, () => {
          for (const [number, { name }] of behaviours.entries()) {
            it(name, () => {
              assert.deepEqual(places?.[place].behaviours[number], { name });
            });
          }
          it('memory passes the conformance suite', () => assertConforms(places?.[place].memory));
          it('a storage passes the conformance suite', () => assertConforms(places?.[place].map));
          it(`IndexedDB passes the conformance suite, ${DURABILITIES[place]}`, () =>
            assertConforms(databases?.[place]));
        });
      }
    });
  }
});

const CASES = conformance(() => 'memory').length;

function assertConforms(results: Result[] = []): void {
  assert.deepEqual(
    results.filter(({ error }) => error !== undefined),
    [],
  );
  assert.equal(results.length, CASES);
}
