// When a page takes @google/adk as it is published, and what is done where it cannot. The packages of that name are made
// here, each with one of the causes.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Bundle, bundlePage } from './bundle.js';

const PACKAGE = {
  name: '@google/adk',
  type: 'module',
  exports: { browser: './dist/web/index.js' },
};
const PAGE = `export { answer } from '@google/adk';`;

/** Bundles a page with a framework that consists of these files of its `dist`. */
async function bundleWith(
  test: TestContext,
  dist: Record<string, string>,
  page = PAGE,
): Promise<Bundle> {
  const folder = mkdtempSync(join(tmpdir(), 'framework-'));
  test.after(() => rmSync(folder, { recursive: true }));
  const framework = 'node_modules/@google/adk';
  const files: Record<string, string> = {
    'page.js': page,
    [`${framework}/package.json`]: JSON.stringify(PACKAGE),
  };
  for (const [name, text] of Object.entries(dist)) files[`${framework}/dist/${name}`] = text;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return bundlePage(join(folder, 'page.js'));
}

/** Runs the page, and returns its exports. */
async function answerOf({ code }: Bundle): Promise<unknown> {
  const url = `data:text/javascript,${encodeURIComponent(code)}`;
  return ((await import(url)) as { answer: unknown }).answer;
}

const BROKEN = `class Model { all() { return (function* () { yield* super.all(); })(); } }`;

const CAUSES: [what: string, dist: Record<string, string>, answer: unknown][] = [
  [
    'makes itself a require',
    {
      'web/index.js': `import { createRequire as make } from 'module';
        const require = make(import.meta.url);
        export const answer = 'loaded';`,
    },
    'loaded',
  ],
  [
    'has a file that does not parse',
    {
      'web/index.js': `export { answer } from './models/apigee_llm.js';`,
      'web/models/apigee_llm.js': BROKEN,
      'web/models/google_llm.js': `export const answer = 'the browser\\'s';`,
      'esm/models/apigee_llm.js': `export { answer } from './google_llm.js';`,
    },
    "the browser's",
  ],
  [
    "does not use its browser's AsyncLocalStorage",
    {
      'web/index.js': `export { answer } from './utils/client_labels.js'`,
      'web/utils/client_labels.js': `import { AsyncLocalStorage } from 'node:async_hooks';
        export const answer = new AsyncLocalStorage().run('label', () => 'labelled');`,
      'web/utils/async_hooks_shim.js': `export class AsyncLocalStorage {
        run(store, callback) { return callback(); }
      }`,
    },
    'labelled',
  ],
  [
    'logs by a package for servers',
    {
      'web/index.js': `import * as winston from 'winston';
        const { combine, label, colorize, timestamp, printf } = winston.format;
        const logger = winston.createLogger({
          format: combine(label(), winston.format(() => 0)(), colorize(), timestamp(), printf()),
          transports: [new winston.transports.Console()],
        });
        export const answer = ['log', 'debug', 'info', 'warn', 'error'].map((name) => typeof logger[name]);`,
    },
    ['function', 'function', 'function', 'function', 'function'],
  ],
  [
    'asks for the kind of an address',
    {
      'web/index.js': `import { isIP } from 'node:net';
        export const answer = ['10.0.0.0', 'fe80::', 'localhost'].map(isIP);`,
    },
    [4, 6, 0],
  ],
  [
    'names what no browser has',
    {
      'web/index.js': `import { Client, Language } from '@google-cloud/vertexai';
        import Zip from 'adm-zip';
        import * as path from 'node:path';
        const values = [Language.PYTHON, class extends Client {}];
        const messageOf = (run) => { try { run(); } catch ({ message }) { return message; } };
        export const answer = [() => new Client(), () => new Zip(), () => path.join('a')].map(messageOf);`,
    },
    [
      '@google-cloud/vertexai.Client is not in a browser',
      'adm-zip is not in a browser',
      'node:path.join is not in a browser',
    ],
  ],
];

describe('The bundle of a page with the framework', () => {
  it('accepts a build that bundles as published', async (test) => {
    const bundle = await bundleWith(test, { 'web/index.js': `export const answer = 'whole';` });
    assert.equal(bundle.isRepaired, false);
    assert.equal(await answerOf(bundle), 'whole');
  });

  for (const [what, dist, answer] of CAUSES) {
    it(`repairs a build that ${what}`, async (test) => {
      const bundle = await bundleWith(test, dist);
      assert.equal(bundle.isRepaired, true);
      assert.deepEqual(await answerOf(bundle), answer);
    });
  }

  it('repairs only the framework', async (test) => {
    const dist = { 'web/index.js': `export const answer = 'whole';` };
    const page = `${PAGE} import 'node:path';`;
    await assert.rejects(bundleWith(test, dist, page), /Could not resolve "node:path"/);
  });
});
