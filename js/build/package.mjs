// Builds js/dist/, which is what the npm package ships beside pkg/: the compiled TypeScript, the wasm
// as text for the loader that inlines it, the cases of the conformance suite, and one file for pages
// without a bundler.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'js/dist');

/** @param {string} file @param {string} expression */
function writeModule(file, expression) {
  const path = join(dist, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `export default ${expression};\n`);
}

rmSync(dist, { recursive: true, force: true });
const wasm = readFileSync(join(root, 'pkg/adk_session_wasm_bg.wasm'));
const base64 = gzipSync(wasm, { level: 9 }).toString('base64');
writeModule('wasm/loader/inline_bytes.js', JSON.stringify(base64));
const cases = readFileSync(join(root, 'src/storage/conformance/cases.json'), 'utf8');
// Parsed when it is loaded: as an object literal, a case's "__proto__" would set a prototype.
writeModule('testing/cases.js', `JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(cases)))})`);
for (const declaration of [
  'wasm/loader/inline_bytes.d.ts',
  'testing/cases.d.ts',
  'wasm/loader/wasm_module.d.ts',
]) {
  writeFileSync(join(dist, declaration), readFileSync(join(root, 'js', declaration)));
}

const tsc = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'js/tsconfig.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

await build({
  entryPoints: [join(dist, 'index.js')],
  outfile: join(dist, 'browser.js'),
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  logLevel: 'warning',
});
