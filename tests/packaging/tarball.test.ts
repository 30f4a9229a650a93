// The files that npm would publish.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { install, root } from './installed.js';

/** Beside what is compiled from TypeScript. */
const OTHERS = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'js/dist/browser.js',
  'js/dist/wasm/loader/wasm_text.d.ts',
  'js/dist/wasm/loader/wasm_text.js',
  'js/dist/wasm/loader/wasm_module.d.ts',
  'js/dist/testing/cases.d.ts',
  'js/dist/testing/cases.js',
  'js/examples/map_adapter.ts',
  'package.json',
  'pkg/adk_session_wasm.d.ts',
  'pkg/adk_session_wasm.js',
  'pkg/adk_session_wasm_bg.wasm',
  'pkg/adk_session_wasm_bg.wasm.d.ts',
  'pkg/build.json',
];

const NOT_SHIPPED = /^(build|dist|examples)\//;

/**
 * The compiled files: JavaScript and types of each source, without source maps. Bundlers warn about a map
 * without its sources.
 */
function compiled(): string[] {
  return readdirSync(join(root, 'js'), { encoding: 'utf8', recursive: true })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.c?ts$/.test(file) && !file.endsWith('.d.ts') && !NOT_SHIPPED.test(file))
    .flatMap((file) => [file.replace(/ts$/, 'js'), file.replace(/\.(c?ts)$/, '.d.$1')])
    .map((file) => `js/dist/${file}`);
}

/** README.md links to them. */
function docs(): string[] {
  return readdirSync(join(root, 'docs')).map((file) => `docs/${file}`);
}

describe('the tarball', () => {
  it('contains exactly the files that users need', () => {
    const { files } = install();
    const expected = [...OTHERS, ...docs(), ...compiled()];
    const missing = expected.filter((file) => !files.includes(file));
    const unexpected = files.filter((file) => !expected.includes(file));
    assert.deepEqual({ missing, unexpected }, { missing: [], unexpected: [] });
  });

  it('refers to no source maps', () => {
    const { files, folder } = install();
    const mapped = files.filter((file) => {
      return (
        file.endsWith('.js') &&
        readFileSync(join(folder, file), 'utf8').includes('sourceMappingURL=')
      );
    });
    assert.deepEqual(mapped, []);
  });

  it('contains no path of the machine that built it', () => {
    const { files, folder } = install();
    const telling = files.filter((file) => {
      const text = readFileSync(join(folder, file), 'latin1');
      return text.includes(root) || /\/(home|root|Users)\/|file:\/\/\//.test(text);
    });
    assert.deepEqual(telling, []);
  });

  it('is at most 750 KB', (t) => {
    const kilobytes = install().tarball / 1024;
    t.diagnostic(`${kilobytes.toFixed(1)} KB`);
    assert.ok(kilobytes <= 750);
  });

  it('satisfies publint', async () => {
    const { folder } = install();
    const { messages, pkg } = await publint({ pkgDir: folder, strict: true, pack: false });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });
});
