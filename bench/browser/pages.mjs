// Bundles the pages, serves them, and opens them in a browser.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { tsImport } from 'tsx/esm/api';

/** @typedef {import('../../tests/browser/browser.js').BrowserName} BrowserName */

/** @type {typeof import('../../tests/browser/browser.js')} */
const { openBrowser } = await tsImport('../../tests/browser/browser.ts', import.meta.url);
/** @type {typeof import('../../tests/browser/server.js')} */
const { html, serve } = await tsImport('../../tests/browser/server.ts', import.meta.url);

/** Filling 100,000 events takes long. */
const PATIENCE = 300_000;

/** Without these headers, browsers round their clocks to 0.1 ms or 1 ms. */
const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** Bundles the pages like a user, with the package in a separate file. */
async function bundle() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.mjs', import.meta.url))],
    outdir: '/',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    logLevel: 'warning',
  });
  return Object.fromEntries(outputFiles.map(({ path, text }) => [path, { body: text }]));
}

/**
 * Calls `use` with a function that opens the page of a case and returns its result, and with the browser.
 *
 * @template Value
 * @param {BrowserName} browserName
 * @param {(run: (page: string) => Promise<any>, browser: import('../../tests/browser/browser.js').Browser) => Promise<Value>} use
 */
export async function withPages(browserName, use) {
  const page = html('<!doctype html><script type="module" src="/page.js"></script>', ISOLATED);
  const wasm = {
    body: await readFile(new URL('../../pkg/adk_session_wasm_bg.wasm', import.meta.url)),
  };
  const server = await serve({ '/': page, '/adk_session_wasm_bg.wasm': wasm, ...(await bundle()) });
  try {
    const browser = await openBrowser(browserName, { patience: PATIENCE });
    try {
      return await use((name) => browser.value(`${server.origin}/?${name}`), browser);
    } finally {
      await browser.close();
    }
  } finally {
    await server.close();
  }
}
