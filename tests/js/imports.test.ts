import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import {
  cycles,
  fileCounts,
  folders,
  importsOfRust,
  importsOfTypeScript,
  isLeaf,
} from './imports.mjs';

/** The folders of js/, from the lowest to the highest. Its files stand above all of them, and below testing. */
const LAYERS = ['values', 'core', 'stores', 'service', 'server', 'ui', 'command'];

describe('Imports', () => {
  it('of a file or folder by itself over others are found, each way once', () => {
    const files = new Map([
      ['a/one', new Set(['b/one', 'a/two'])],
      ['a/two', new Set<string>()],
      ['b/one', new Set(['c/one'])],
      ['b/two', new Set(['b/one'])],
      ['c/one', new Set(['a/two'])],
    ]);
    assert.deepEqual(cycles(files), []);
    assert.deepEqual(cycles(folders(files)), ['a → b → c → a']);
    assert.deepEqual(cycles(folders(files, (folder) => folder !== 'c')), []);
    assert.deepEqual(cycles(new Map([['a', new Set(['a'])]])), ['a → a']);
  });

  it('of js/ and examples/ have no cycle, type imports included', () => {
    const files = importsOfTypeScript();
    assert.ok(files.get('js/index.ts')?.has('js/exports.ts'));
    assert.ok(
      files.get('js/service/append/waiting_appends.ts')?.has('js/service/append/state_writer.ts'),
      'a type',
    );
    assert.deepEqual(cycles(files), []);
    assert.deepEqual(cycles(folders(files)), []);
  });

  it('of js/ come from the same layer or one below', () => {
    const layerOf = (file: string): number => LAYERS.indexOf(file.split('/')[1]!);
    const upward = [...importsOfTypeScript()].flatMap(([file, imports]) =>
      [...imports]
        .filter((other) => layerOf(file) >= 0 && layerOf(other) > layerOf(file))
        .map((other) => `${file} → ${other}`),
    );
    assert.deepEqual(upward, []);
  });

  it('of what is a promise only sometimes are on the way of an append alone: elsewhere functions are async', () => {
    const users = [...importsOfTypeScript()].filter(([, imports]) =>
      imports.has('js/core/storage/wasm/maybe_promise.ts'),
    );
    assert.deepEqual(users.map(([file]) => file).sort(), [
      'js/core/storage/wasm/wasm_store.ts',
      'js/service/append/appender.ts',
      'js/service/stored_session_service.ts',
    ]);
  });

  it('of the rules of the outbox are types, each other and the names of shared states', () => {
    const folder = fileURLToPath(new URL('../../js/stores/cache/outbox', import.meta.url));
    const imported = readdirSync(folder).flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      const values = text.matchAll(/^import (?!type )[^;]*? from '([^']*)';/gms);
      return [...values].map(([, path]) => path!).filter((path) => !path.startsWith('./'));
    });
    assert.deepEqual(imported, ['../../../values/state/scope.js']);
  });

  it('of src/ have no cycle', () => {
    const files = importsOfRust();
    assert.ok(files.get('src/core/storage/shared.rs')?.has('src/core/write/mod.rs'));
    assert.deepEqual(cycles(files), []);
    // A file beside folders is a module of its own.
    assert.deepEqual(cycles(folders(files, isLeaf)), []);
  });
});

it('js/build makes the package without a file of tests/', () => {
  const folder = fileURLToPath(new URL('../../js/build', import.meta.url));
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  assert.ok(texts.some((text) => text.includes('js/build/wasm_tools.sh')));
  assert.ok(!texts.some((text) => text.includes('tests/')));
});

it('No folder of js/, src/ or tests/js/ has more than 14 files', () => {
  const counts = ['js', 'src', 'tests/js'].flatMap((folder) => [...fileCounts(folder)]);
  assert.ok(new Map(counts).get('js/values/model')! > 1, 'files are counted');
  assert.deepEqual(
    counts.filter(([, count]) => count > 14),
    [],
  );
});
