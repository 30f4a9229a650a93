// The tests.
//
//   npm test                          the gate: what a change can break
//   npm test -- rust js               only these steps, of the gate or of the rest; --list prints their names
//   npm test -- tests/js/values/state/state.test.ts    only these files
//   npm run test:quick                the checks, and the tests that import what changed since main
//   npm test -- portable              what needs no server, no browser and no Rust
//   npm run test:all                  the gate and the rest: what takes long, or repeats the gate in other places
//   npm run test:all -- --rest        the rest alone
//   SEED=7 BOUNDARY=own npm test -- simulation    one seed of the simulator
//   REST_SEED=500000 npm run test:all -- --rest       the rest with the seeds of an earlier run
//
// A file NAME.rest.test.ts belongs to the rest, any other *.test.ts to the gate. Two steps run at a time. A failed step
// does not stop the others. The output of each step is in target/test-logs/. The last line has the sums.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compiledPath } from './toolchain/compile.mjs';
import { webDrivers } from './toolchain/browsers.mjs';
import { hostEnv, pinRust, root, wasmEnv } from './toolchain/environment.mjs';
import { distIsCurrent, packagesAreCurrent } from '../js/build/ready.mjs';
import { changedFiles, nearestTests } from './toolchain/changed.mjs';
import { killRunning, runStep } from './toolchain/steps.mjs';

/** @typedef {import('./toolchain/steps.mjs').Step} Step */

pinRust();

const wasm32 = '--target wasm32-unknown-unknown';
const rustdoc = 'env RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --all-features';
const clippy = '--workspace --all-targets --all-features -- -D warnings';

const MOST_MINUTES_OF_A_FILE = 20;

/** The package that the other steps load. */
const build = check('build', 'npm run build:js');

/** Cargo locks its folder, so its steps run one after the other. @type {Record<'gate' | 'rest', Step[]>} */
const cargoSteps = {
  gate: [
    check('rustfmt', 'cargo fmt --all --check'),
    check('clippy', `cargo clippy ${clippy}`),
    cargoTests('rust', 'cargo test --workspace --all-features --no-fail-fast'),
    check('clippy-wasm', `cargo clippy ${wasm32} ${clippy}`, 'wasm'),
    wasmTests('chromium'),
  ],
  rest: [
    check('clippy-minimal', 'cargo clippy --workspace --no-default-features -- -D warnings'),
    check(
      'clippy-minimal-wasm',
      `cargo clippy --workspace --no-default-features ${wasm32} -- -D warnings`,
      'wasm',
    ),
    check(
      'clippy-rules',
      `cargo clippy --package adk-session-wasm --no-default-features --features rules ${wasm32} -- -D warnings`,
      'wasm',
    ),
    check('rustdoc', `${rustdoc} --package adk-session-core`),
    check('rustdoc-wasm', `${rustdoc} --workspace ${wasm32}`, 'wasm'),
    check('pkg-rebuild', 'node js/build/pkg_hash.mjs --rebuild', 'wasm'),
    wasmTests('firefox'),
    wasmTests('webkit'),
  ],
};

/** The longest first, so that the two queues end together. @type {Record<'gate' | 'rest', Step[]>} */
const otherSteps = {
  gate: [
    nodeTests('browser', 'browsers'),
    nodeTests('js'),
    nodeTests('packaging'),
    nodeTests('interop', 'browsers'),
    nodeTests('simulation', 'browsers'),
    nodeTests('attack'),
    check('eslint', `eslint ${cached('eslint')} .`),
    check('prettier', `prettier --check ${cached('prettier')} .`),
    check('tsc', withPackages('typescript', 'tsc --noEmit -p tests')),
    check('pkg', 'node js/build/pkg_hash.mjs --check'),
  ],
  rest: [
    ...['browser', 'packaging', 'js', 'interop', 'simulation', 'attack'].map(restTests),
    fileTests('random-cases', filesWithCases(), undefined, { RANDOM_CASES: '5000' }),
    fileTests('other-browsers', testFiles('tests/browser', false), 'browsers', {
      BROWSERS: 'firefox,webkit',
    }),
  ],
};

/** Folders of js/ whose tests need no server and no browser: the step `portable`, for macOS and Windows. */
const portableFolders = ['values', 'core', 'service'];

/** The tests of these folders, which the step `js` runs as well. */
const portable = fileTests(
  'portable',
  portableFolders.flatMap((folder) => testFiles(`tests/js/${folder}`, false)),
);

/** The options that skip unchanged files. @param {string} name */
function cached(name) {
  return `--cache --cache-strategy content --cache-location target/${name}.json`;
}

/** @param {string} name @param {string} command @param {Step['tools']} [tools] @returns {Step} */
function check(name, command, tools) {
  return { name, kind: 'check', command: () => command.split(' '), tools };
}

/** A command of a folder of tests/packages/. @param {string} folder @param {string} command */
function withPackages(folder, command) {
  return `node tests/toolchain/npm_packages.mjs ${folder} ${command}`;
}

/** @param {string} name @param {string} command @returns {Step} */
function cargoTests(name, command) {
  return { name, kind: 'cargo', command: () => command.split(' ') };
}

/** Rust's tests for wasm, on a page of a browser. @param {keyof typeof webDrivers} browser @returns {Step} */
function wasmTests(browser) {
  const { driver, capabilities } = webDrivers[browser];
  const command = (/** @type {NodeJS.ProcessEnv} */ env) => {
    if (!env[driver])
      throw new Error(`no driver for ${browser} was found: see target/test-logs/set-up.log`);
    // The test runner uses the first driver in the environment.
    for (const other of Object.values(webDrivers)) delete env[other.driver];
    // One file per browser: geckodriver refuses a session with another browser's options.
    const folder = join(root, 'target', 'webdriver');
    mkdirSync(folder, { recursive: true });
    env.WASM_BINDGEN_TEST_WEBDRIVER_JSON = join(folder, `${browser}.json`);
    writeFileSync(env.WASM_BINDGEN_TEST_WEBDRIVER_JSON, JSON.stringify(capabilities(env)));
    env.WASM_BINDGEN_TEST_TIMEOUT = '300';
    env.WASM_BINDGEN_TEST_ONLY_WEB = '1';
    env.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER = 'wasm-bindgen-test-runner';
    // WebKitGTK's compilers sometimes break large modules without it (four of fifteen runs trapped in safe Rust).
    env.CARGO_PROFILE_DEV_OPT_LEVEL ??= '1';
    // By name, because Cargo would otherwise run the documentation's examples, which need the host.
    const tests = ['--test', 'wasm', '--test', 'indexed_db'];
    const command = `cargo test ${wasm32} --workspace --all-features`;
    return [...command.split(' '), ...tests];
  };
  return { name: `wasm-${browser}`, kind: 'cargo', command, tools: 'wasm' };
}

/** The files of the gate below tests/NAME. @param {string} name @param {Step['tools']} [tools] @returns {Step} */
function nodeTests(name, tools) {
  return fileTests(name, testFiles(`tests/${name}`, false), tools);
}

/** The files of the rest below tests/NAME. @param {string} name @returns {Step} */
function restTests(name) {
  return fileTests(`rest-${name}`, testFiles(`tests/${name}`, true), 'browsers');
}

/**
 * @param {string} name
 * @param {string[]} files
 * @param {Step['tools']} [tools]
 * @param {NodeJS.ProcessEnv} [added]
 * @returns {Step}
 */
function fileTests(name, files, tools, added = {}) {
  // Several files at a time, because most wait for a server, the disk or a browser, which has processes of its own. Node's
  // default is one less than the cores.
  const atOnce = tools === undefined ? 3 : 2;
  // A file whose process does not end fails by its name, before its step is ended as a whole.
  const limit = `--test-timeout=${MOST_MINUTES_OF_A_FILE * 60_000}`;
  const runner = ['node', '--enable-source-maps', '--test', limit, '--test-reporter', 'spec'];
  const command = (/** @type {NodeJS.ProcessEnv} */ env) => {
    Object.assign(env, added);
    return [...runner, `--test-concurrency=${atOnce}`, ...files.map(compiledPath)];
  };
  return { name, kind: 'node', command, tools };
}

/** Node 20 does not expand patterns itself. @param {string} folder @param {boolean} isRest */
function testFiles(folder, isRest) {
  const files = readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .filter((file) => file.endsWith('.rest.test.ts') === isRest)
    .map((file) => join(folder, file))
    .sort();
  if (files.length === 0) throw new Error(`${folder} has no tests`);
  return files;
}

/** The files of the gate that draw random cases for small functions. */
function filesWithCases() {
  const isDrawing = /^import \{ cases \} from .*properties\.js';$/m;
  return testFiles('tests/js', false).filter((file) =>
    isDrawing.test(readFileSync(join(root, file), 'utf8')),
  );
}

/** @param {string} name @param {string} command @returns {Step} */
function preparation(name, command) {
  return { name, kind: 'preparation', command: () => command.split(' ') };
}

/** What all steps need: the packages and the tools. @param {Step[]} chosen @returns {Step[]} */
function setUp(chosen) {
  const needed = [];
  if (!packagesAreCurrent()) needed.push(preparation('install', 'npm ci'));
  if (chosen.some((step) => step.tools)) {
    needed.push(preparation('set-up', 'bash tests/toolchain/setup/setup.sh'));
  }
  return needed;
}

/**
 * What the steps other than Cargo's need as well. They wait for it: a step that built js/dist/ would build it while others
 * read it.
 *
 * @param {Step[]} chosen
 * @returns {Step[]}
 */
function preparations(chosen) {
  const needed = [];
  const runsTests = chosen.some((step) => step.kind === 'node');
  // Lint rules with types and tsc read the package's declarations.
  const readsPackage = runsTests || chosen.some(({ name }) => ['eslint', 'tsc'].includes(name));
  if (chosen.includes(build)) needed.push(build);
  else if (readsPackage && !distIsCurrent()) needed.push(build);
  if (runsTests) {
    needed.push(preparation('better-sqlite3', 'node tests/toolchain/setup/sqlite.mjs'));
    needed.push(preparation('compile', 'node tests/toolchain/compile.mjs'));
  }
  return needed;
}

/** What a change since main breaks first: the checks, and the nearest tests. @returns {Promise<Step[]>} */
async function quickSteps() {
  const names = ['eslint', 'prettier', 'tsc'];
  const checks = otherSteps.gate.filter(({ name }) => names.includes(name));
  if (!packagesAreCurrent()) await runStep(preparation('install', 'npm ci'), hostEnv());
  const tests = await nearestTests(changedFiles());
  console.log(`${tests.length} test files are nearest to what changed since main`);
  return [build, ...checks, ...(tests.length > 0 ? [fileTests('changed', tests)] : [])];
}

/** @param {string[]} names steps or files @returns {Step[] | Promise<Step[]>} */
function chosenSteps(names) {
  const all = [
    build,
    portable,
    ...Object.values(cargoSteps).flat(),
    ...Object.values(otherSteps).flat(),
  ];
  if (names.includes('--list')) {
    console.log(all.map(({ name }) => name).join('\n'));
    process.exit(0);
  }
  if (names.includes('--quick')) return quickSteps();
  const isFile = (/** @type {string} */ name) => name.endsWith('.test.ts');
  if (names.length > 0 && names.every(isFile)) return [fileTests('files', names, 'browsers')];
  const options = ['--all', '--rest'];
  const unknown = names.filter(
    (name) => !options.includes(name) && !all.some((step) => step.name === name),
  );
  if (unknown.length > 0) {
    console.error(
      `no such step or file: ${unknown.join(', ')}; npm test -- --list prints all steps`,
    );
    process.exit(2);
  }
  const asked = all.filter(({ name }) => names.includes(name));
  if (asked.length > 0) return asked;
  const gate = names.includes('--rest') ? [] : [build, ...cargoSteps.gate, ...otherSteps.gate];
  const rest = names.some((name) => options.includes(name))
    ? [...cargoSteps.rest, ...otherSteps.rest]
    : [];
  return [...gate, ...rest];
}

/**
 * Two queues keep two cores busy: many steps wait for a browser or have only one thread. One queue begins with the steps
 * of Cargo, while the other prepares the rest.
 *
 * @param {Step[]} chosen
 */
async function runAll(chosen) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  /** Runs the waiting steps one after the other. @param {Step[]} waiting */
  const runQueue = async (waiting) => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const counts = await runStep(step, step.tools === 'wasm' ? wasmEnv() : hostEnv());
      sum.passed += counts.passed;
      sum.failed += counts.failed;
      sum.skipped += counts.skipped.length;
    }
  };
  await runQueue(setUp(chosen));
  const ofCargo = Object.values(cargoSteps).flat();
  const prepared = runQueue(preparations(chosen));
  const cargoRun = runQueue(chosen.filter((step) => ofCargo.includes(step)));
  const waiting = chosen.filter((step) => step !== build && !ofCargo.includes(step));
  await Promise.all([
    prepared.then(() => runQueue(waiting)),
    Promise.all([prepared, cargoRun]).then(() => runQueue(waiting)),
  ]);
  console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  process.exitCode = sum.failed > 0 ? 1 : 0;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    killRunning();
    process.exit(1);
  });
}

const chosen = await chosenSteps(process.argv.slice(2));
if (chosen.some((step) => otherSteps.rest.includes(step)) && process.env.SEED === undefined) {
  // Each day has its own: whoever runs the rest on the same day sees the same failure. The gate's are below 200,000.
  const day = Math.floor(Date.now() / 86_400_000);
  process.env.REST_SEED ??= String((1 + (day % 10_000)) * 200_000);
  const args = process.argv.slice(2).join(' ');
  console.log(
    `to repeat with the same seeds: REST_SEED=${process.env.REST_SEED} npm test -- ${args}`,
  );
}
await runAll(chosen);
