// `npm test`: all checks, from the format of the sources to three browsers.
//
//   npm test                      all steps
//   npm test -- rust wasm-node    only these steps
//   npm test -- --list            prints the names of the steps
//   npm run test:quick            the steps that most changes break, in 90 seconds
//   npm run test:hosts            the packed package in all hosts, also in those that take long
//   SEED=7 BOUNDARY=adapter npm test -- simulation    one seed of the fault simulator
//
// Two steps run at a time. A failed step does not stop the others. The output of each step is in target/test-logs/. The
// last line has the sums.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { compiledPath } from './toolchain/compile.mjs';
import { wasmPackTest } from './toolchain/browsers.mjs';
import { hostEnv, root, wasmEnv } from './toolchain/environment.mjs';
import { distIsCurrent, packagesAreCurrent } from './toolchain/ready.mjs';
import { killRunning, runStep } from './toolchain/steps.mjs';

/** @typedef {import('./toolchain/steps.mjs').Step} Step */
/** @typedef {import('./toolchain/counts.mjs').Counts} Counts */

const clippy = '--all-targets --all-features -- -D warnings';

/** @type {Step[]} Cargo locks its folder, so these steps run one after the other. */
const rust = [
  check('rustfmt', 'cargo fmt --check'),
  check('clippy-host', `cargo clippy ${clippy}`),
  check('clippy-minimal', 'cargo clippy --no-default-features -- -D warnings'),
  check('clippy-wasm', `cargo clippy --target wasm32-unknown-unknown ${clippy}`, 'wasm'),
  rustTests('rust', 'cargo test --all-features --no-fail-fast'),
  check('rustdoc', 'env RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --all-features'),
  check('pkg', 'node js/build/pkg_hash.mjs --rebuild', 'wasm'),
  wasmTests('wasm-node', 'node'),
  wasmTests('wasm-chromium', 'chromium'),
  wasmTests('wasm-firefox', 'firefox'),
  wasmTests('wasm-webkit', 'webkit'),
];

/** The package that the other steps load. */
const build = check('build', 'npm run build:js');

const prettier = check('prettier', `prettier --check ${cached('prettier')} .`);
const tsc = check('tsc', 'node tests/toolchain/tsc.mjs');

/** The longest first, so that the two queues end together. */
const steps = [
  build,
  ...rust,
  nodeTests('browser', 'tests/browser', 'browsers'),
  nodeTests('packaging', 'tests/packaging', 'browsers'),
  nodeTests('js', 'tests/js'),
  nodeTests('interop', 'tests/interop', 'browsers'),
  nodeTests('simulation', 'tests/simulation', 'browsers'),
  nodeTests('attack', 'tests/attack', 'browsers'),
  check('eslint', `eslint ${cached('eslint')} .`),
  prettier,
  check('typedoc', 'node tests/toolchain/typedoc.mjs --emit none'),
  tsc,
];

/** The steps that most changes break, without a browser and without a server. */
const quick = [
  build,
  ...rust.filter(({ name }) => name === 'rustfmt' || name === 'rust'),
  prettier,
  tsc,
  ...['service', 'append', 'read', 'handle', 'call', 'state', 'model', 'template'].map((room) =>
    nodeTests(room, `tests/js/${room}`),
  ),
];

/** The packed package in all hosts. */
const hosts = [build, nodeTests('hosts', 'tests/packaging/hosts', 'browsers', { HOSTS: 'all' })];

/** The options that skip unchanged files. @param {string} name */
function cached(name) {
  return `--cache --cache-strategy content --cache-location target/${name}.json`;
}

/** @param {string} name @param {string} command @param {Step['tools']} [tools] @returns {Step} */
function check(name, command, tools) {
  return { name, kind: 'check', command: () => command.split(' '), minutes: 15, tools };
}

/** @param {string} name @param {string} command @returns {Step} */
function rustTests(name, command) {
  return { name, kind: 'cargo', command: () => command.split(' '), minutes: 20 };
}

/** @param {string} name @param {Parameters<typeof wasmPackTest>[0]} where @returns {Step} */
function wasmTests(name, where) {
  const command = wasmPackTest.bind(undefined, where);
  return { name, kind: 'cargo', command, minutes: 20, tools: 'wasm' };
}

/**
 * @param {string} name
 * @param {string} folder
 * @param {Step['tools']} [tools]
 * @param {NodeJS.ProcessEnv} [added]
 * @returns {Step}
 */
function nodeTests(name, folder, tools, added = {}) {
  // Several files at a time, because most wait for a server, the disk or a browser, which has processes of its own. Node's
  // default is one less than the cores.
  const atOnce = tools === undefined ? 3 : 2;
  const preload = ['--import', './tests/toolchain/test_hook.mjs'];
  const runner = ['node', '--enable-source-maps', ...preload, '--test', '--test-reporter', 'spec'];
  return {
    name,
    kind: 'node',
    command(env) {
      Object.assign(env, added);
      return [...runner, `--test-concurrency=${atOnce}`, ...testFiles(folder)];
    },
    minutes: 30,
    tools,
  };
}

/** Node 20 does not expand patterns itself. @param {string} folder */
function testFiles(folder) {
  const files = existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })
        .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
        .map((file) => compiledPath(join(folder, file)))
        .sort()
    : [];
  if (files.length === 0) throw new Error(`${folder} has no *.test.ts`);
  return files;
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
 * What the steps other than Rust's need as well. They wait for it: a step that built js/dist/ would build it while others
 * read it.
 *
 * @param {Step[]} chosen
 * @returns {Step[]}
 */
function preparations(chosen) {
  const needed = [];
  const runsTests = chosen.some((step) => step.kind === 'node');
  if (runsTests && !chosen.some((step) => step.name === 'pkg')) {
    needed.push(preparation('pkg', 'node js/build/pkg_hash.mjs --check'));
  }
  if (chosen.includes(build)) needed.push(build);
  else if (chosen.some((step) => !rust.includes(step)) && !distIsCurrent()) needed.push(build);
  if (runsTests) {
    needed.push(preparation('better-sqlite3', 'bash tests/toolchain/setup/sqlite.sh'));
    needed.push(preparation('compile', 'node tests/toolchain/compile.mjs'));
  }
  return needed;
}

/** @param {string} name @param {string} command @returns {Step} */
function preparation(name, command) {
  return { name, kind: 'preparation', command: () => command.split(' '), minutes: 40 };
}

/** @param {string[]} names */
async function main(names) {
  if (names.includes('--quick')) return runAll(quick);
  if (names.includes('--hosts')) return runAll(hosts);
  const known = steps.map((step) => step.name);
  if (names.includes('--list')) return console.log(known.join('\n'));
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`no such step: ${unknown.join(', ')}; there are: ${known.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  await runAll(steps.filter(({ name }) => names.length === 0 || names.includes(name)));
}

/**
 * Two queues keep two cores busy: many steps wait for a browser or have only one thread. One queue begins with the steps
 * of Rust, while the other prepares the rest.
 *
 * @param {Step[]} chosen
 */
async function runAll(chosen) {
  const sum = { passed: 0, failed: 0 };
  await runQueue(setUp(chosen), sum);
  const prepared = runQueue(preparations(chosen), sum);
  const rustRun = runQueue(
    rust.filter((step) => chosen.includes(step)),
    sum,
  );
  const waiting = chosen.filter((step) => step !== build && !rust.includes(step));
  await Promise.all([
    prepared.then(() => runQueue(waiting, sum)),
    Promise.all([prepared, rustRun]).then(() => runQueue(waiting, sum)),
  ]);
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
  process.exitCode = sum.failed > 0 ? 1 : 0;
}

/** Runs the waiting steps one after the other. @param {Step[]} waiting @param {Counts} sum */
async function runQueue(waiting, sum) {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    await runCounted(step, sum);
  }
}

/** @param {Step} step @param {Counts} sum */
async function runCounted(step, sum) {
  const { passed, failed } = await runStep(step, step.tools === 'wasm' ? wasmEnv() : hostEnv());
  sum.passed += passed;
  sum.failed += failed;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    killRunning();
    process.exit(1);
  });
}

await main(process.argv.slice(2));
