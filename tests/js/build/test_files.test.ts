import assert from 'node:assert/strict';
import { it } from 'node:test';

import { fileTests, nearestCargoSteps, without } from '../../toolchain/all_steps.mjs';
import { needsNodeAlone, needsOf, nearestTests } from '../../toolchain/test_files.mjs';

it('The nearest test of a changed test is that test', () => {
  const tests = nearestTests(['tests/js/build/version.test.ts']);
  assert.deepEqual(tests, ['tests/js/build/version.test.ts']);
});

it('The nearest tests of a file are those that import it, also through others', () => {
  assert.deepEqual(nearestTests(['js/build/version.mjs']), ['tests/js/build/version.test.ts']);
  const tests = nearestTests(['js/testing/case.ts']);
  assert.ok(tests.includes('tests/js/stores/vertex/conformance.test.ts'), tests.join());
});

it('The nearest tests begin with the test that has the name of the file, and the folder', () => {
  const [first] = nearestTests(['js/server/http/cross_origin.ts']);
  assert.equal(first, 'tests/js/server/cross_origin.test.ts');
  const near = nearestTests(['js/service/read/session_filter.ts']);
  assert.ok(
    near.every((test) => test.startsWith('tests/js/service/read/')),
    near.join(),
  );
});

it('The nearest tests of many files are few, and some of each', () => {
  const files = ['js/index.ts', 'js/server/http/cross_origin.ts', 'js/core/handle/event_index.ts'];
  const tests = nearestTests([...files, 'js/service/read/session_filter.ts', 'js/slim.ts']);
  assert.equal(tests.length, 24);
  assert.ok(tests.includes('tests/js/server/cross_origin.test.ts'), tests.join());
});

it('A file that no source imports has no tests', () => {
  assert.deepEqual(nearestTests(['LICENSE']), []);
});

it('A test needs what its modules name, and nothing else', () => {
  for (const [file, needs] of [
    ['tests/js/values/state/keys.test.ts', []],
    ['tests/js/core/wasm/slim.test.ts', ['package']],
    ['tests/js/stores/database/sqlite_service.test.ts', ['sqlite']],
    ['tests/js/stores/database/verbs/rows_read.test.ts', ['mariadb', 'pgbouncer', 'postgresql']],
    [
      'tests/js/examples/redis_channel.rest.test.ts',
      ['mariadb', 'pgbouncer', 'postgresql', 'redis'],
    ],
    ['tests/interop/vertex/events.rest.test.ts', ['package', 'python']],
    ['tests/browser/loading/loading.test.ts', ['chromium', 'package']],
    ['tests/browser/indexed_db/webkit.test.ts', ['chromium', 'package', 'webkit']],
    ['tests/interop/rust_pages.rest.test.ts', ['package', 'rust-wasm', 'wasm-bindgen']],
  ] as const) {
    assert.deepEqual(needsOf(file).sort(), needs, file);
  }
  assert.equal(needsNodeAlone('tests/js/core/wasm/slim.test.ts'), true);
  assert.equal(needsNodeAlone('tests/js/stores/database/verbs/rows_read.test.ts'), false);
});

it('A part of the set-up that failed takes only the files that need it out of a step', () => {
  const [plain, withServers] = [
    'tests/js/values/state/keys.test.ts',
    'tests/js/stores/database/verbs/rows_read.test.ts',
  ];
  const mixed = without(fileTests('mixed', [plain, withServers]), new Set(['mariadb', 'webkit']));
  assert.deepEqual(mixed.lost, ['mariadb']);
  const files = mixed.runnable?.command({}).filter((argument) => argument.endsWith('.test.js'));
  assert.deepEqual(files, ['target/compiled/tests/js/values/state/keys.test.js']);
  const alone = without(fileTests('alone', [withServers]), new Set(['mariadb']));
  assert.deepEqual(alone, { lost: ['mariadb'], runnable: undefined });
});

it('A change of the library in Rust runs its unit tests, its examples and the integration tests of its name', () => {
  const steps = nearestCargoSteps(['src/core/template/render.rs', 'js/index.ts']);
  const commands = steps.map(({ command }) => command({}).join(' '));
  const test = 'cargo test --package adk-session-core --all-features';
  for (const part of ['--lib', '--doc']) assert.ok(commands.includes(`${test} ${part}`), part);
  const named = commands.find((command) => command.includes('--test rust'));
  assert.match(named ?? '', / -- .*\btemplates::/);
  assert.doesNotMatch(named ?? '', /\bwrites::/);
});

it('A change of the crate of the wasm runs its lints, since only a browser runs it', () => {
  const names = nearestCargoSteps(['src/wasm/indexed_db/store.rs']).map(({ name }) => name);
  assert.deepEqual(names, ['rustfmt', 'clippy-wasm']);
});

it('A change without Rust runs no step of Cargo', () => {
  assert.deepEqual(nearestCargoSteps(['js/index.ts']), []);
});
