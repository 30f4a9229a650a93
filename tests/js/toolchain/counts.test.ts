// The runners' own output, cut to the lines around their results, and what each must count for.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsOf } from '../../toolchain/counts.mjs';

const cargo = `
     Running unittests src/lib.rs (target/debug/deps/sample-118d40c4ce83e274)

running 1 test
test tests::native ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/empty.rs (target/debug/deps/empty-c324c325f5666c4e)

running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests sample

running 2 tests
test src/lib.rs - add (line 4) ... ok
test src/lib.rs - subtract (line 9) ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
`;

const cargoFailing = `
     Running tests/native.rs (target/debug/deps/native-0b9b8370b9bfc9a2)

running 2 tests
test good ... ok
test bad ... FAILED

failures:

---- bad stdout ----

thread 'bad' (22709) panicked at tests/native.rs:4:20:
assertion \`left == right\` failed
  left: 1
 right: 2

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.11s

error: test failed, to rerun pass \`--test native\`
   Doc-tests sample

running 2 tests

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: 1 target failed:
    \`--test native\`
`;

const cargoNotCompiling = `
error[E0425]: cannot find value \`x\` in this scope
error: could not compile \`sample\` (lib test) due to 1 previous error
`;

const wasmInNode = `
     Running unittests src/lib.rs (target/wasm32-unknown-unknown/debug/deps/sample-130856788ebdead4.wasm)
no tests to run!
     Running tests/any.rs (target/wasm32-unknown-unknown/debug/deps/any-a40da755e7af6d8e.wasm)
running 1 test
test adds ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 filtered out; finished in 0.01s

     Running tests/browser.rs (target/wasm32-unknown-unknown/debug/deps/browser-3ead9782f7b56bae.wasm)
this test suite is only configured to run in a browser, but we're only testing node.js tests so skipping
`;

const wasmInBrowser = `
Running headless tests in Chrome on \`http://127.0.0.1:37001/\`
Loading scripts...\rLoading Wasm module...\r
running 2 tests
test waits ... ok
test bad ... FAIL

failures:

    bad

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 filtered out; finished in 0.02s

Error: some tests failed
`;

const wasmTimedOut = `
Running headless tests in Firefox on \`http://127.0.0.1:41039/\`
running 2 tests
test waits ... ok
Failed to detect test as having been run. It might have timed out.
Error: some tests failed
`;

const nodeSpec = `
✔ good (0.961311ms)
▶ s
  ✖ bad (0.982703ms)
﹣ skipped (0.100579ms) # SKIP
✖ hangs (50.703337ms)

ℹ tests 5
ℹ suites 1
ℹ pass 2
ℹ fail 1
ℹ cancelled 1
ℹ skipped 1
ℹ todo 0
ℹ duration_ms 10120.71282

✖ failing tests:

test at js/a.test.mjs:2:67
✖ bad (0.982703ms)
  AssertionError [ERR_ASSERTION]: 1 == 2
`;

const nodeTap = `
TAP version 13
# Subtest: good
ok 1 - good
1..1
# tests 1
# suites 0
# pass 1
# fail 0
# cancelled 0
# skipped 0
# todo 0
# duration_ms 94.14772
`;

const nodeWithoutTests = nodeTap.replace('# tests 1', '# tests 0').replace('# pass 1', '# pass 0');

describe('counts', () => {
  it('sums the results of cargo test for binaries and doctests', () => {
    assert.deepEqual(countsOf('cargo', true, cargo), { passed: 3, failed: 0 });
    assert.deepEqual(countsOf('cargo', false, cargoFailing), { passed: 3, failed: 1 });
  });

  it('parses wasm-bindgen-test in Node and in browsers', () => {
    assert.deepEqual(countsOf('cargo', true, wasmInNode), { passed: 1, failed: 0 });
    assert.deepEqual(countsOf('cargo', false, wasmInBrowser), { passed: 1, failed: 1 });
  });

  it('parses both reporters of node --test, and counts a cancelled test as failed', () => {
    assert.deepEqual(countsOf('node', false, nodeSpec), { passed: 2, failed: 2 });
    assert.deepEqual(countsOf('node', true, nodeTap), { passed: 1, failed: 0 });
  });

  it('uses only the last summary of node --test, since a test may print one', () => {
    assert.deepEqual(countsOf('node', true, nodeTap.repeat(2)), { passed: 1, failed: 0 });
    assert.deepEqual(countsOf('node', false, nodeTap + nodeSpec), { passed: 2, failed: 2 });
  });

  it('ignores colours and other line ends', () => {
    const coloured = 'test result: \u001b[32mok\u001b[m. 4 passed; 0 failed; 0 ignored';
    assert.deepEqual(countsOf('cargo', true, coloured), { passed: 4, failed: 0 });
    const crlf = nodeTap.replaceAll('\n', '\r\n');
    assert.deepEqual(countsOf('node', true, crlf), { passed: 1, failed: 0 });
  });

  it('counts a step that failed without a failed test as one failure', () => {
    for (const log of [cargoNotCompiling, wasmTimedOut, '']) {
      assert.deepEqual(pick(countsOf('cargo', false, log)), { passed: 0, failed: 1 });
    }
    assert.deepEqual(pick(countsOf('cargo', false, cargo)), { passed: 3, failed: 1 });
    assert.deepEqual(pick(countsOf('node', false, nodeTap)), { passed: 1, failed: 1 });
  });

  it('counts a runner that ran no test as one failure', () => {
    assert.deepEqual(pick(countsOf('cargo', true, 'no tests to run!')), { passed: 0, failed: 1 });
    assert.deepEqual(pick(countsOf('node', true, nodeWithoutTests)), { passed: 0, failed: 1 });
  });

  it('counts a check as one, whatever its output', () => {
    assert.deepEqual(countsOf('check', true, cargoFailing), { passed: 1, failed: 0 });
    assert.deepEqual(countsOf('check', false, cargo), { passed: 0, failed: 1 });
  });

  it('counts a preparation only when it fails', () => {
    assert.deepEqual(countsOf('preparation', true, cargo), { passed: 0, failed: 0 });
    assert.deepEqual(countsOf('preparation', false, cargo), { passed: 0, failed: 1 });
  });
});

function pick({ passed, failed }: { passed: number; failed: number }) {
  return { passed, failed };
}
