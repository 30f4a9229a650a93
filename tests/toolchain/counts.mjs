// Counts passed and failed tests in the output of the runners.

/** @typedef {{ passed: number, failed: number }} Counts */
/** @typedef {'preparation' | 'check' | 'cargo' | 'node'} Kind */

/**
 * Returns the counts of a step. A step of tests counts as one failure if it ended before its runner could count, or if its
 * runner found no test. A preparation counts only if it fails.
 *
 * @param {Kind} kind
 * @param {boolean} succeeded whether the step's process ended with exit code 0
 * @param {string} log
 * @returns {Counts & { reason?: string }}
 */
export function countsOf(kind, succeeded, log) {
  if (kind === 'preparation') return { passed: 0, failed: succeeded ? 0 : 1 };
  if (kind === 'check') return succeeded ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  const counts = kind === 'cargo' ? cargoTests(log) : nodeTests(log);
  if (counts.failed > 0) return counts;
  if (!succeeded)
    return { ...counts, failed: 1, reason: 'it ended with an error, but no test failed' };
  if (counts.passed === 0) return { ...counts, failed: 1, reason: 'it ran no test' };
  return counts;
}

/**
 * Counts the tests of `cargo test` and wasm-bindgen-test-runner, which print one such line for each test binary.
 *
 * @param {string} log
 * @returns {Counts}
 */
export function cargoTests(log) {
  const results = withoutColours(log).matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm);
  let [passed, failed] = [0, 0];
  for (const [, ok, bad] of results) {
    passed += Number(ok);
    failed += Number(bad);
  }
  return { passed, failed };
}

/**
 * Counts the tests of `node --test`. It ends with a summary (`#` in TAP, `ℹ` in the spec reporter). Only the last one counts:
 * a test may print the summary of a runner that it started.
 *
 * @param {string} log
 * @returns {Counts}
 */
export function nodeTests(log) {
  const summaries = withoutColours(log).matchAll(
    /^[#ℹ] tests \d+\n[#ℹ] suites \d+\n[#ℹ] pass (\d+)\n[#ℹ] fail (\d+)\n[#ℹ] cancelled (\d+)$/gm,
  );
  const [, pass = 0, fail = 0, cancelled = 0] = [...summaries].at(-1) ?? [];
  return { passed: Number(pass), failed: Number(fail) + Number(cancelled) };
}

/** @param {string} log */
function withoutColours(log) {
  // eslint-disable-next-line no-control-regex -- colours are control sequences
  return log.replace(/\u001b\[[0-9;]*m/g, '').replaceAll('\r\n', '\n');
}
