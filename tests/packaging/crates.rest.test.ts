import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs `cargo package` on both crates. */
function cargoPackage(...args: string[]): { stdout: string; stderr: string } {
  const command = ['package', '--workspace', '--allow-dirty', ...args];
  const env = { ...process.env, CARGO_TARGET_DIR: join(root, 'target', 'packaging', 'crates') };
  const { status, stdout, stderr } = spawnSync('cargo', command, { cwd: root, env, encoding: 'utf8' }); // prettier-ignore
  assert.equal(status, 0, stderr);
  return { stdout, stderr };
}

describe('The crates', { timeout: 600_000 }, () => {
  it('are packed and built; Cargo warns only of tests that are not packed', () => {
    const { stderr } = cargoPackage();
    assert.match(stderr, /Verifying adk-session-core/);
    assert.match(stderr, /Verifying adk-session-wasm/);
    const warnings = stderr.split('\n').filter((line) => line.startsWith('warning'));
    const others = warnings.filter((line) => !/^warning: ignoring test `\w+` as /.test(line));
    assert.deepEqual(others, []);
  });

  it('have no pages of docs/ in them, and the library not the wasm crate', () => {
    const files = cargoPackage('--list').stdout.split('\n');
    assert.ok(files.includes('src/internals.rs'));
    assert.ok(files.includes('conformance/cases.json'));
    assert.ok(files.includes('indexed_db/mod.rs'));
    assert.deepEqual(
      files.filter((file) => /^(docs|src\/wasm)\//.test(file)),
      [],
    );
  });
});
