// All steps of `npm test`.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { browserHome, webDrivers } from './browsers.mjs';
import { compiledPath } from './compile.mjs';
import { root } from './environment.mjs';
import { needsNodeAlone, needsOf, testFiles } from './test_files.mjs';

/** @typedef {import('./steps.mjs').Step} Step */

const wasm32 = '--target wasm32-unknown-unknown';
const rustdoc = 'env RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --all-features';
const clippy = '--workspace --all-targets --all-features -- -D warnings';

const MOST_MINUTES_OF_A_FILE = 20;

/** The package that other programs load. */
export const build = check('build', 'npm run build:js');

const rustfmt = check('rustfmt', 'cargo fmt --all --check');
const clippyHost = check('clippy', `cargo clippy ${clippy}`);
const clippyWasm = check('clippy-wasm', `cargo clippy ${wasm32} ${clippy}`, ['rust-wasm']);

/** Cargo locks its folder, so its steps run one after the other. @type {Record<'gate' | 'rest', Step[]>} */
export const cargoSteps = {
  gate: [
    rustfmt,
    clippyHost,
    step('rust', 'cargo', 'cargo test --workspace --all-features --no-fail-fast'),
    clippyWasm,
    wasmTests('chromium', ['chromium']),
  ],
  rest: [
    check('clippy-minimal', 'cargo clippy --workspace --no-default-features -- -D warnings'),
    check(
      'clippy-minimal-wasm',
      `cargo clippy --workspace --no-default-features ${wasm32} -- -D warnings`,
      ['rust-wasm'],
    ),
    check(
      'clippy-rules',
      `cargo clippy --package adk-session-wasm --no-default-features --features rules ${wasm32} -- -D warnings`,
      ['rust-wasm'],
    ),
    check('rustdoc', `${rustdoc} --package adk-session-core`),
    check('rustdoc-wasm', `${rustdoc} --workspace ${wasm32}`, ['rust-wasm']),
    check('pkg-rebuild', 'node js/build/pkg_hash.mjs --rebuild', ['rust-wasm', 'wasm-bindgen']),
    wasmTests('firefox', ['firefox', 'geckodriver']),
    wasmTests('webkit', ['webkit']),
  ],
};

/**
 * What a change of Rust breaks first: the format, the tests in the crate, the integration tests whose name begins with that of
 * the module or of the module around it, and the lints. On this machine the crate of the wasm has no code: a browser tests it.
 *
 * @param {readonly string[]} changed
 * @returns {Step[]}
 */
export function nearestCargoSteps(changed) {
  const rust = changed.filter((file) => /^(src|tests\/rust)\/.*\.rs$/.test(file));
  const ofWasm = rust.filter((file) => file.startsWith('src/wasm/'));
  const ofLibrary = rust.filter((file) => !ofWasm.includes(file));
  const names = new Set(ofLibrary.flatMap(moduleNames));
  const modules = rustModules().filter((module) =>
    [...names].some((name) => module.startsWith(name)),
  );
  const test = 'cargo test --package adk-session-core --all-features';
  const named = modules.map((module) => `${module}::`).join(' ');
  return [
    ...(rust.length > 0 ? [rustfmt] : []),
    ...(ofLibrary.length > 0 ? [step('rust-lib', 'cargo', `${test} --lib`)] : []),
    ...(ofLibrary.length > 0 ? [step('rust-doc', 'cargo', `${test} --doc`)] : []),
    ...(modules.length > 0 ? [step('rust-named', 'cargo', `${test} --test rust -- ${named}`)] : []),
    ...(ofLibrary.length > 0 ? [clippyHost] : []),
    ...(ofWasm.length > 0 ? [clippyWasm] : []),
  ];
}

/** Returns the names of a file's module and of the one around it. @param {string} file */
function moduleNames(file) {
  const path = file.replace(/(\/mod)?\.rs$/, '').split('/');
  return path.slice(1).slice(-2);
}

/** The modules of the integration tests. */
function rustModules() {
  const names = readdirSync(join(root, 'tests/rust'), { encoding: 'utf8', recursive: true });
  return names.map((name) => basename(name, '.rs')).filter((name) => !/^(main|mod)$/.test(name));
}

const filesOfJs = someFiles('tests/js', false);

/** The longest first, so that the two queues end together. @type {Record<'gate' | 'rest', Step[]>} */
export const otherSteps = {
  gate: [
    fileTests('browser', someFiles('tests/browser', false), { atOnce: 2 }),
    fileTests('js', filesOfJs.filter(needsNodeAlone)),
    fileTests('packaging', someFiles('tests/packaging', false)),
    fileTests(
      'databases',
      filesOfJs.filter((file) => !needsNodeAlone(file)),
    ),
    fileTests('interop', someFiles('tests/interop', false), { atOnce: 2 }),
    fileTests('simulation', someFiles('tests/simulation', false), { atOnce: 2 }),
    fileTests('attack', someFiles('tests/attack', false)),
    ...checksOf(['.'], ['.']),
    check('pkg', 'node js/build/pkg_hash.mjs --check'),
  ],
  rest: [
    ...['browser', 'packaging', 'js', 'interop', 'simulation', 'attack'].map((name) =>
      fileTests(`rest-${name}`, someFiles(`tests/${name}`, true), { atOnce: 2 }),
    ),
    fileTests('random-cases', filesWithCases(), { env: { RANDOM_CASES: '5000' }, isTimed: false }),
    fileTests('other-browsers', someFiles('tests/browser', false), {
      atOnce: 2,
      env: { BROWSERS: 'firefox,webkit' },
      isTimed: false,
      needs: ['firefox', 'geckodriver', 'webkit'],
    }),
  ],
};

/** What the step `js` runs on macOS and Windows. */
export const portable = fileTests(
  'portable',
  filesOfJs.filter(
    (file) =>
      /^tests.js.(values|core|service|stores.artifacts)\b/.test(file) && needsNodeAlone(file),
  ),
);

/**
 * The checks of TypeScript. tests/tsconfig.sources.json leads the entries of the package to their sources, so they need no build.
 * It is a file of its own, since bundlers follow the paths of a tsconfig.json, and the tests of pages are about the built package.
 *
 * @param {string[]} linted files or folders
 * @param {string[]} formatted files or folders
 * @returns {[eslint: Step, prettier: Step, tsc: Step]}
 */
export function checksOf(linted, formatted) {
  const eslint = `eslint --no-warn-ignored ${cached('eslint')}`;
  const prettier = `prettier --check --ignore-unknown ${cached('prettier')}`;
  const tsc =
    'tsc --noEmit --incremental --tsBuildInfoFile target/tsc.json -p tests/tsconfig.sources.json';
  return [
    check('eslint', [eslint, ...linted].join(' ')),
    check('prettier', [prettier, ...formatted].join(' ')),
    check('tsc', `node tests/toolchain/npm_packages.mjs typescript ${tsc}`),
  ];
}

/** The options that skip unchanged files. @param {string} name */
function cached(name) {
  return `--cache --cache-strategy content --cache-location target/${name}.json`;
}

/** @param {string} name @param {string} command @param {string[]} [needs] @returns {Step} */
function check(name, command, needs = []) {
  return step(name, 'check', command, needs);
}

/**
 * @param {string} name
 * @param {Step['kind']} kind
 * @param {string} command
 * @param {string[]} [needs]
 * @returns {Step}
 */
export function step(name, kind, command, needs = []) {
  return { name, kind, command: () => command.split(' '), needs };
}

/** Rust's tests for wasm, on a page of a browser. @param {keyof typeof webDrivers} browser @param {string[]} needs @returns {Step} */
function wasmTests(browser, needs) {
  const { driver, capabilities, packFlags } = webDrivers[browser];
  const command = (/** @type {NodeJS.ProcessEnv} */ env) => {
    // The test runner uses the first driver in the environment.
    for (const other of Object.values(webDrivers))
      if (other.driver !== driver) delete env[other.driver];
    // One file per browser: geckodriver refuses a session with another browser's options.
    const folder = join(root, 'target', 'webdriver');
    mkdirSync(folder, { recursive: true });
    env.WASM_BINDGEN_TEST_WEBDRIVER_JSON = join(folder, `${browser}.json`);
    writeFileSync(env.WASM_BINDGEN_TEST_WEBDRIVER_JSON, JSON.stringify(capabilities(env)));
    // WebKitGTK's compilers sometimes break large modules without it (four of fifteen runs trapped in safe Rust).
    env.CARGO_PROFILE_DEV_OPT_LEVEL ??= '1';
    Object.assign(env, browserHome(env));
    if (packFlags !== undefined) {
      const flags = ['--headless', ...packFlags(env), '--mode', 'no-install'];
      return ['wasm-pack', 'test', ...flags, 'src/wasm'];
    }
    env.WASM_BINDGEN_TEST_ONLY_WEB = '1';
    env.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER = 'wasm-bindgen-test-runner';
    // By name, because Cargo would otherwise run the documentation's examples, which need the host.
    return `cargo test ${wasm32} --package adk-session-wasm --all-features --test wasm`.split(' ');
  };
  const runner = packFlags === undefined ? 'wasm-bindgen' : 'wasm-pack';
  return {
    name: `wasm-${browser}`,
    kind: 'cargo',
    command,
    needs: ['rust-wasm', 'wasm-bindgen', runner, ...needs],
  };
}

/**
 * @param {string} name
 * @param {string[]} files
 * @param {{ atOnce?: number, env?: NodeJS.ProcessEnv, needs?: string[], pattern?: string | undefined, isTimed?: boolean }} [options]
 * `atOnce`: how many files run at a time. Most wait for a server, the disk or a browser, which has processes of its own
 * @returns {Step}
 */
export function fileTests(name, files, options = {}) {
  const { atOnce = 3, env: added = {}, needs = [], pattern, isTimed = true } = options;
  // A file whose process does not end fails by its name, before its step is ended as a whole.
  const limit = `--test-timeout=${MOST_MINUTES_OF_A_FILE * 60_000}`;
  const timed = `--import=${pathToFileURL(join(root, 'tests/toolchain/file_time.mjs')).href}`;
  const runner = ['node', '--enable-source-maps', timed, '--test', limit, '--test-reporter=spec'];
  if (pattern !== undefined) runner.push(`--test-name-pattern=${pattern}`);
  /** @type {Step['command']} */
  const command = (env, runFiles = files) => {
    Object.assign(env, added);
    return [...runner, `--test-concurrency=${atOnce}`, ...runFiles.map(compiledPath)];
  };
  return { name, kind: 'node', command, needs: ['compiled', ...needs], files, isTimed };
}

/** What a step and its files need of the set-up. @param {Step} step @returns {Set<string>} */
export function needsOfStep({ needs, files = [] }) {
  return new Set([...needs, ...files.flatMap(needsOf)]);
}

/**
 * Returns what runs of a step without some parts of the set-up.
 *
 * @param {Step} step
 * @param {ReadonlySet<string>} missing
 * @returns {{ lost: string[], runnable: Step | undefined }} `lost`: the parts that the step needs
 */
export function without(step, missing) {
  const isThere = (/** @type {string} */ part) => !missing.has(part);
  const lost = [...needsOfStep(step)].filter((part) => missing.has(part));
  const files = step.files?.filter((file) => needsOf(file).every(isThere));
  const isRunnable = step.needs.every(isThere) && files?.length !== 0;
  const runnable = {
    ...step,
    command: (/** @type {NodeJS.ProcessEnv} */ env) => step.command(env, files),
  };
  return { lost, runnable: isRunnable ? runnable : undefined };
}

/** @param {string} folder @param {boolean} isRest */
function someFiles(folder, isRest) {
  const files = testFiles(folder, isRest);
  if (files.length === 0) throw new Error(`${folder} has no tests`);
  return files;
}

/** The files of the gate that draw random cases for small functions. */
function filesWithCases() {
  const isDrawing = /^import \{ cases \} from .*properties\.js';$/m;
  return filesOfJs.filter((file) => isDrawing.test(readFileSync(join(root, file), 'utf8')));
}
