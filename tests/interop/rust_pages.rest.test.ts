import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { wasmEnv } from '../toolchain/environment.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = join(root, 'tests', 'interop', 'rust_pages');
const target = join(root, 'target', 'interop', 'rust_pages');

function run(program: string, ...args: string[]): void {
  const env = { ...wasmEnv(), CARGO_TARGET_DIR: target };
  const { status, stderr, error } = spawnSync(program, args, { cwd: pages, env, encoding: 'utf8' });
  assert.equal(error, undefined);
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /warning/);
}

/** Builds a page, and returns the functions that its wasm exports, without those of wasm-bindgen. */
function exportsOf(page: string): string[] {
  // The same versions as the package's own tests, which are on this machine already.
  copyFileSync(join(root, 'Cargo.lock'), join(pages, 'Cargo.lock'));
  run('cargo', 'build', '--quiet', '--package', page, '--target', 'wasm32-unknown-unknown');
  const wasm = join(target, 'wasm32-unknown-unknown', 'debug', `${page}.wasm`);
  run('wasm-bindgen', wasm, '--target', 'web', '--out-dir', join(target, page));
  const bytes = readFileSync(join(target, page, `${page}_bg.wasm`));
  const all = WebAssembly.Module.exports(new WebAssembly.Module(bytes));
  const functions = all.filter(({ kind }) => kind === 'function').map(({ name }) => name);
  return functions.filter((name) => !/^(__|wasm_bindgen_)/.test(name)).sort();
}

describe('A page in Rust', { timeout: 600_000 }, () => {
  it('that uses the library alone has none of the exports of the npm package', () => {
    assert.deepEqual(exportsOf('library_page'), ['instruction']);
  });

  it('over IndexedDB has none of them either, without the feature bindings', () => {
    assert.deepEqual(exportsOf('indexed_db_page'), ['stored_events']);
  });
});
