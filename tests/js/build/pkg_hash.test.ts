// The check of pkg/ against its record: any byte that was not built is found.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { problemsOf } from '../../../js/build/pkg_hash.mjs';
import { newFolder } from '../../new_folder.js';

const pkg = fileURLToPath(new URL('../../../pkg', import.meta.url));

describe('The check of pkg/', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
    cpSync(pkg, folder, { recursive: true });
  });

  it('accepts an unchanged build', () => {
    assert.deepEqual(problemsOf(folder), []);
  });

  it('detects one flipped bit in the wasm', () => {
    const path = join(folder, 'adk_session_wasm_bg.wasm');
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(1000) ^ 1, 1000);
    writeFileSync(path, bytes);
    assert.deepEqual(problemsOf(folder), ['adk_session_wasm_bg.wasm is not what was built']);
  });

  it('detects a change in the glue', () => {
    const path = join(folder, 'adk_session_wasm.js');
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n`);
    assert.deepEqual(problemsOf(folder), ['adk_session_wasm.js is not what was built']);
  });

  it('detects missing and additional files', () => {
    rmSync(join(folder, 'adk_session_wasm.d.ts'));
    writeFileSync(join(folder, 'more.js'), '');
    assert.deepEqual(problemsOf(folder), [
      'adk_session_wasm.d.ts is missing',
      'more.js was not built',
    ]);
  });

  it('detects other sources', () => {
    const path = join(folder, 'build.json');
    const record = JSON.parse(readFileSync(path, 'utf8')) as { sources: string };
    writeFileSync(path, JSON.stringify({ ...record, sources: record.sources.replace(/^./, 'x') }));
    assert.deepEqual(problemsOf(folder), ['it was built from other sources than these']);
  });

  it('detects a missing record', () => {
    rmSync(join(folder, 'build.json'));
    assert.deepEqual(problemsOf(folder), ['build.json is missing']);
  });
});
