// Prototypes that a page has changed, over IndexedDB. Each realm is a separate page.

import { join } from 'node:path';
import { after, describe } from 'node:test';
import { build } from 'esbuild';
import { type Browser, ALL_BROWSERS, openBrowser } from '../../browser/browser.js';
import { html, serve } from '../../browser/server.js';
import { root } from '../../toolchain/environment.mjs';
import { memberNames } from './names.js';
import { type Poison, withstands } from './withstands.js';

/** The names of the code that uses the browser's IndexedDB. */
const STORAGE_NAMES = memberNames((file) => /^(?:.*\/)?(?:indexed_db|bindings)\//.test(file));
/** The names of the TypeScript code above it, which is the same in all browsers. */
const FACE_NAMES = memberNames((file) =>
  /^(?:append|call|errors|handle|members|model|read|service|state|storage)\//.test(file),
);

for (const browserName of ALL_BROWSERS) {
  describe(browserName, () => {
    let browser: Browser | undefined;
    after(() => browser?.close());
    const names = browserName === 'chromium' ? [...STORAGE_NAMES, ...FACE_NAMES] : STORAGE_NAMES;
    for (const poison of ['data', 'setter', 'frozen'] as const) {
      withstands(`IndexedDB in ${browserName}`, poison, [...new Set(names)], async (tried) => {
        browser ??= await openBrowser(browserName);
        return inPage(browser, poison, tried);
      });
    }
  });
}

async function inPage(
  browser: Browser,
  poison: Poison,
  names: readonly string[],
): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'tests/attack/poison/page.ts')],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    define: { POISON: JSON.stringify(poison), NAMES: JSON.stringify(names) },
  });
  const site = await serve({
    '/': html('<!doctype html><meta charset="utf-8"><body><script src="/main.js"></script>'),
    '/main.js': { body: outputFiles[0]!.text },
  });
  try {
    return await browser.value<string[]>(`${site.origin}/`);
  } finally {
    await site.close();
  }
}
