// The tests.
//
//   npm test                          the gate: what a change can break
//   npm test -- rust js               only these steps, of the gate or of the rest; --list prints their names
//   npm test -- tests/js/values/state/state.test.ts    only these files, or the files of the gate in a folder
//   npm test -- -t 'temp:' tests/js/values    of these files the tests with such a name, a regular expression
//   npm test -- --watch tests/js/values       again after each change
//   npm run test:quick                what changed since main: its lints and types, and the nearest tests
//   npm test -- portable              what needs no server, no browser and no Rust
//   npm run test:all                  the gate and the rest: what takes long, or repeats the gate in other places
//   npm run test:all -- --rest        the rest alone
//   SEED=7 BOUNDARY=own npm test -- simulation    one seed of the simulator
//   REST_SEED=500000 npm run test:all -- --rest       the rest with the seeds of an earlier run
//
// A file NAME.rest.test.ts belongs to the rest, any other *.test.ts to the gate. Two steps run at a time. A failed step
// does not stop the others. The output of each step is in target/test-logs/. The last line has the sums.

import { existsSync, statSync, watch } from 'node:fs';
import { join, posix } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { distIsCurrent, packagesAreCurrent } from '../js/build/ready.mjs';
import {
  build,
  cargoSteps,
  checksOf,
  fileTests,
  nearestCargoSteps,
  needsOfStep,
  otherSteps,
  portable,
  step as stepOf,
  without,
} from './toolchain/all_steps.mjs';
import { hostEnv, pinRust, root, wasmEnv } from './toolchain/environment.mjs';
import { killRunning, runStep } from './toolchain/steps.mjs';
import { changedFiles, nearestTests, testFiles } from './toolchain/test_files.mjs';

/** @typedef {import('./toolchain/steps.mjs').Step} Step */

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    'test-name-pattern': { type: 'string', short: 't' },
    watch: { type: 'boolean', default: false },
  },
});

const gate = [build, ...cargoSteps.gate, ...otherSteps.gate];
const rest = [...cargoSteps.rest, ...otherSteps.rest];

/** @param {string} name @param {string} command @returns {Step} */
const preparation = (name, command) => stepOf(name, 'preparation', command);

/** @returns {Step[]} */
function chosenSteps() {
  if (options.quick) return quickSteps();
  if (positionals.length === 0) {
    return [...(options.rest ? [] : gate), ...(options.all || options.rest ? rest : [])];
  }
  const all = [...gate, portable, ...rest];
  const steps = all.filter(({ name }) => positionals.includes(name));
  const paths = positionals.filter((name) => all.every((step) => step.name !== name));
  const found = paths.map(
    (path) => /** @type {const} */ ([path, filesAt(posix.normalize(path.replaceAll('\\', '/')))]),
  );
  const unknown = found.filter(([, files]) => files.length === 0).map(([path]) => path);
  if (unknown.length > 0) {
    const hint = 'npm test -- --list prints all steps';
    console.error(`no such step, and no test file at: ${unknown.join(', ')}; ${hint}`);
    process.exit(2);
  }
  const files = [...new Set(found.flatMap(([, ofPath]) => ofPath))];
  const pattern = options['test-name-pattern'];
  return files.length === 0 ? steps : [...steps, fileTests('files', files, { pattern })];
}

/** @param {string} path of a file, or of a folder @returns {string[]} */
function filesAt(path) {
  if (!existsSync(join(root, path))) return [];
  if (statSync(join(root, path)).isFile()) return path.endsWith('.test.ts') ? [path] : [];
  if (options.all) return [...testFiles(path, false), ...testFiles(path, true)];
  return testFiles(path, options.rest);
}

/** What a change since main breaks first. @returns {Step[]} */
function quickSteps() {
  const changed = changedFiles();
  const linted = changed.filter((file) => /\.([cm]?js|tsx?)$/.test(file));
  const tests = nearestTests(changed);
  console.log(
    `${changed.length} files changed since main, and ${tests.length} test files are near`,
  );
  const [eslint, prettier, tsc] = checksOf(linted, changed);
  return [
    ...(linted.length > 0 ? [eslint, tsc] : []),
    ...(tests.length > 0 ? [fileTests('changed', tests)] : []),
    ...(changed.length > 0 ? [prettier] : []),
    ...nearestCargoSteps(changed),
  ];
}

/** Parts of the set-up that failed: what needs them does not run. @type {Set<string>} */
const missing = new Set();
const sum = { passed: 0, failed: 0, skipped: 0 };

/** @param {Step} step @returns {Promise<string>} its log */
async function runCounted(step) {
  const usesWasm = step.kind !== 'node' && step.needs.includes('rust-wasm');
  const { passed, failed, skipped, log } = await runStep(step, usesWasm ? wasmEnv() : hostEnv());
  sum.passed += passed;
  sum.failed += failed;
  sum.skipped += skipped.length;
  return log;
}

/** Runs what a step can without the parts that failed. Each of them is a failure of the step. @param {Step} step */
async function run(step) {
  const { lost, runnable } = without(step, missing);
  const what = runnable ? 'the files that need it do not run' : 'it does not run';
  for (const part of lost) {
    console.log(`${step.name.padEnd(16)}0 passed, 1 failed: there is no ${part}, so ${what}`);
  }
  sum.failed += lost.length;
  if (runnable) await runCounted(runnable);
}

/** Prepares what the steps need: packages, programs, js/dist/, and the compiled tests. @param {Step[]} chosen */
async function prepare(chosen) {
  /** @param {string} part @param {Step} step */
  const provide = async (part, step) => {
    const failures = sum.failed;
    await runCounted(step);
    if (sum.failed > failures) missing.add(part);
  };
  const needs = new Set(chosen.flatMap((step) => [...needsOfStep(step)]));
  const isBuilt = distIsCurrent();
  if (chosen.includes(build) || (needs.has('package') && !isBuilt)) await provide('package', build);
  if (needs.has('sqlite')) {
    await provide('sqlite', preparation('better-sqlite3', 'node tests/toolchain/setup/sqlite.mjs'));
  }
  if (chosen.some(({ kind }) => kind === 'node')) {
    await provide('compiled', preparation('compile', 'node tests/toolchain/compile.mjs'));
  }
}

/** @param {Step[]} chosen */
async function setUp(chosen) {
  if (!packagesAreCurrent()) {
    await runCounted(preparation('install', 'npm ci --ignore-scripts'));
  }
  const parts = new Set(chosen.flatMap((step) => [...needsOfStep(step)]));
  for (const part of ['package', 'sqlite', 'compiled']) parts.delete(part);
  if (parts.size === 0) return;
  const command = ['bash tests/toolchain/setup/setup.sh', ...parts].join(' ');
  const log = await runCounted(preparation('set-up', command));
  for (const [, part = ''] of log.matchAll(/^set-up: no ([\w-]+):/gm)) missing.add(part);
}

/**
 * Two queues keep two cores busy: many steps wait for a browser or have only one thread. One queue begins with the steps
 * of Cargo, while the other prepares the rest.
 *
 * @param {Step[]} chosen
 */
async function runAll(chosen) {
  Object.assign(sum, { passed: 0, failed: 0, skipped: 0 });
  missing.clear();
  /** Runs the waiting steps one after the other. @param {Step[]} waiting */
  const runQueue = async (waiting) => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) await run(step);
  };
  await setUp(chosen);
  const ofCargo = (/** @type {Step} */ step) =>
    step.kind === 'cargo' || Object.values(cargoSteps).flat().includes(step);
  const prepared = prepare(chosen);
  const cargoRun = runQueue(chosen.filter(ofCargo));
  const waiting = chosen.filter((step) => step !== build && !ofCargo(step));
  await Promise.all([
    prepared.then(() => runQueue(waiting)),
    Promise.all([prepared, cargoRun]).then(() => runQueue(waiting)),
  ]);
  console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  process.exitCode = sum.failed > 0 ? 1 : 0;
}

/** Runs again after each change. @param {() => Promise<void>} runOnce */
async function watchAll(runOnce) {
  let changes = 0;
  for (const folder of ['js', 'tests', 'examples', 'conformance', 'pkg']) {
    watch(join(root, folder), { recursive: true }, (_, file) => {
      if (!/^dist\b/.test(file ?? '')) changes += 1;
    });
  }
  for (;;) {
    const seen = changes;
    await runOnce();
    while (changes === seen) await pause(100);
    await pause(100); // an editor writes a file in several steps
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    killRunning();
    process.exit(1);
  });
}

if (options.list) {
  console.log([...gate, portable, ...rest].map(({ name }) => name).join('\n'));
  process.exit(0);
}
const chosen = chosenSteps();
if (chosen.some((step) => otherSteps.rest.includes(step)) && process.env.SEED === undefined) {
  // Each day has its own: whoever runs the rest on the same day sees the same failure. The gate's are below 200,000.
  const day = Math.floor(Date.now() / 86_400_000);
  process.env.REST_SEED ??= String((1 + (day % 10_000)) * 200_000);
  const args = process.argv.slice(2).join(' ');
  console.log(
    `to repeat with the same seeds: REST_SEED=${process.env.REST_SEED} npm test -- ${args}`,
  );
}
pinRust();
await (options.watch
  ? watchAll(() => runAll(options.quick ? quickSteps() : chosen))
  : runAll(chosen));
