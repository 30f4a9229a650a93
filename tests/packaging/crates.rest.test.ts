import assert from 'node:assert/strict';
import { it } from 'node:test';
import { root, run } from './installed.js';

it('The packed crates have no pages of docs/ in them, and the library not the wasm crate', () => {
  const command = ['package', '--workspace', '--allow-dirty', '--list'];
  const files = run('cargo', command, root).split('\n');
  assert.ok(files.includes('src/internals.rs'));
  assert.ok(files.includes('conformance/cases.json'));
  assert.ok(files.includes('indexed_db/mod.rs'));
  assert.deepEqual(
    files.filter((file) => /^(docs|src\/wasm)\//.test(file)),
    [],
  );
});
