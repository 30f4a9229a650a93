// The gzipped size of the loaded files.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { limited } from '../measure.mjs';

/** @param {Uint8Array} bytes */
function kilobytes(bytes) {
  return gzipSync(bytes, { level: 9 }).length / 1024;
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function size() {
  const wasm = readFileSync(new URL(import.meta.resolve('adk-session-wasm/wasm')));
  const names = 'openSessionService, InMemorySessionService, Template, Invocation';
  const { outputFiles } = await build({
    stdin: {
      contents: `export { ${names} } from 'adk-session-wasm';`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    logLevel: 'warning',
  });
  const page = outputFiles.reduce((sum, { contents }) => sum + kilobytes(contents), 0);
  return [
    limited({ case: 'the wasm, gzipped', ours: kilobytes(wasm), unit: 'KB', most: 75 }),
    limited({ case: 'all that a page loads, gzipped', ours: page, unit: 'KB', most: 90 }),
  ];
}
