// A mutation check: faults at random places of js/ and src/, and which test files find each of them.
//
//   node bench/mutants.mjs --seed 1 --js 40 --rust 20 [--gate FILE] [--tests ROOT]
//
// `--gate`: a file with the paths of the tests that a gate keeps, one a line; the same faults are judged by these alone as
// well. `--tests`: another checkout, whose tests/ runs. `--only js` or `--only rust`.
//
// It works in a worktree of HEAD below target/mutants/, and leaves its results there as JSON lines, a file for each seed. A
// run that is started again continues from them, and runs only what an answer still needs.

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { transform } from 'esbuild';
import { wasmTextModule } from '../js/build/wasm_text.mjs';
import { compiledPath } from '../tests/toolchain/compile.mjs';
import { hostEnv, root, wasmEnv } from '../tests/toolchain/environment.mjs';
import { faultsOfRust, faultsOfTypeScript } from './mutants/faults.mjs';
import { LEFT_OUT, testsOf } from './mutants/rooms.mjs';

/**
 * @typedef {import('./mutants/faults.mjs').Fault & { file: string, line: number, from: string }} Mutant
 * @typedef {Mutant & { compiles: boolean, foundBy: string[], ran: string[] }} Result
 */

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    js: { type: 'string', default: '40' },
    rust: { type: 'string', default: '20' },
    only: { type: 'string' },
    gate: { type: 'string' },
    tests: { type: 'string', default: root },
  },
});

const folder = join(root, 'target/mutants');
const tree = join(folder, 'tree');
const log = join(folder, `seed-${options.seed}.jsonl`);
const gate = options.gate && new Set(fs.readFileSync(options.gate, 'utf8').trim().split(/\s+/));
/** The seconds after which a test file has found the fault: the fault makes it wait for ever. */
const LIMIT = { fast: 120, slow: 600, rust: 900 };
const CARGO = 'cargo test --all-features --no-fail-fast';
const IS_OF_REST = /\.rest\.test\.ts$/;
const TSC = 'node tests/toolchain/npm_packages.mjs typescript=7.0.2 tsc --noEmit -p tests';
const mark = `MUTANTS_RUN=${process.pid}`;
/** Without what makes the wasm small. */
const QUICK_BUILD = {
  CARGO_PROFILE_RELEASE_LTO: 'off',
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
  CARGO_PROFILE_RELEASE_INCREMENTAL: 'true',
};

/** Runs a command in the tree, and ends all that it leaves. @param {string[]} command @param {NodeJS.ProcessEnv} env */
function run(command, env = hostEnv()) {
  const [program = '', ...args] = command;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: tree,
    env: { ...env, CARGO_TARGET_DIR: join(tree, 'target'), MUTANTS_RUN: `${process.pid}` },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error) throw error;
  killLeft();
  return { isGood: status === 0, output: stdout + stderr };
}

/** Ends the processes with the mark: servers and browsers of tests that were ended. On Linux only. */
function killLeft() {
  for (const pid of fs.existsSync('/proc') ? fs.readdirSync('/proc').map(Number) : []) {
    try {
      const environment = pid > 0 ? fs.readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
      if (environment.split('\0').includes(mark)) process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

/** Makes the tree, or puts it back as HEAD is. */
function prepare() {
  fs.mkdirSync(folder, { recursive: true });
  const git = (/** @type {string[]} */ ...args) =>
    spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const head = git('rev-parse', 'HEAD').stdout.trim();
  git('worktree', 'add', '--force', '--detach', tree);
  git('-C', tree, 'checkout', '--force', '--detach', head);
  git('-C', tree, 'clean', '-fdq');
  if (options.tests !== root) {
    fs.rmSync(join(tree, 'tests'), { recursive: true });
    fs.cpSync(join(options.tests, 'tests'), join(tree, 'tests'), { recursive: true });
  }
  fs.mkdirSync(join(tree, 'target'), { recursive: true });
  for (const path of ['node_modules', 'target/tools', 'target/python', 'target/toolchain.env']) {
    const [from, to] = [join(root, path), join(tree, path)];
    if (fs.existsSync(from) && !fs.existsSync(to)) fs.symlinkSync(fs.realpathSync(from), to);
  }
  const built = run(['npm', 'run', 'build:js']);
  const compiled = run(['node', 'tests/toolchain/compile.mjs']);
  if (!built.isGood || !compiled.isGood) throw new Error(built.output + compiled.output);
}

/** @param {string} path in the tree, a file or a folder @param {RegExp} kind @returns {string[]} */
function filesOf(path, kind) {
  const whole = join(tree, path);
  if (!fs.existsSync(whole)) return []; // these tests have none of it
  if (fs.statSync(whole).isFile()) return [path];
  const names = fs.readdirSync(whole, { encoding: 'utf8', recursive: true }).sort();
  return names.map((name) => `${path}/${name}`).filter((name) => kind.test(name));
}

/** The generator mulberry32: numbers from 0 to 1. @param {number} seed */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** All faults of the sources, in an order that the seed alone decides. @param {'js' | 'src'} language @returns {Mutant[]} */
function shuffled(language) {
  const kind = language === 'js' ? /\.ts$/ : /\.rs$/;
  const sources = filesOf(language, kind).filter((file) => !LEFT_OUT.test(file));
  const mutants = sources.flatMap((file) => {
    const text = fs.readFileSync(join(tree, file), 'utf8');
    const faults = language === 'js' ? faultsOfTypeScript(file, text) : faultsOfRust(text);
    return faults.map((fault) => {
      const line = text.slice(0, fault.start).split('\n').length;
      return { file, line, from: text.slice(fault.start, fault.end), ...fault };
    });
  });
  const random = randomNumbers(Number(options.seed));
  for (let last = mutants.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [mutants[last], mutants[other]] = [mutants[other], mutants[last]];
  }
  const where = `${sources.length} files of ${language}/`;
  console.log(`${mutants.length} places in ${where}, seed ${options.seed}`);
  return mutants;
}

/** Writes a source of the tree, and what the tests run of it. Throws if it is no TypeScript. @param {string} file @param {string} text */
async function write(file, text) {
  if (file.endsWith('.rs')) return fs.writeFileSync(join(tree, file), text);
  const { code } = await transform(text, {
    loader: 'ts',
    target: 'es2022',
    define: { 'import.meta.url': JSON.stringify(`file://${join(tree, file)}`) },
  });
  fs.writeFileSync(join(tree, file), text);
  fs.writeFileSync(join(tree, compiledPath(file)), code);
  // The package as other programs load it. The one module that is bundled stays.
  const built = join(tree, file.replace(/^js\/(.*)\.ts$/, 'js/dist/$1.js'));
  if (fs.existsSync(built) && !built.endsWith('/preact.js')) fs.writeFileSync(built, code);
}

/**
 * Runs test files, two at a time, until one fails.
 *
 * @param {string[]} files
 * @returns {{ ran: string[], failed: string[] }}
 */
function runUntilFailure(files) {
  const limit = files.some((file) => /browser|database/.test(file)) ? LIMIT.slow : LIMIT.fast;
  const node = 'node --enable-source-maps';
  // The first failure ends xargs; `run` ends what it leaves, which no pipe may wait for.
  const one = `timeout -k 9 ${limit} ${node} {} > {}.log 2>&1 && echo passed {} || { echo failed {}; kill $PPID; }`;
  const all = `printf '%s\\0' "$@" | xargs -0 -P 2 -I{} sh -c '${one}' > target/results 2>&1`;
  const compiled = files.map(compiledPath);
  run(['bash', '-c', all, 'bash', ...compiled]);
  const lines = fs.readFileSync(join(tree, 'target/results'), 'utf8').split('\n');
  const failed = files.filter((_, index) => lines.includes(`failed ${compiled[index]}`));
  const passed = files.filter((_, index) => lines.includes(`passed ${compiled[index]}`));
  return { ran: [...passed, ...failed], failed };
}

/** Builds the wasm of the tree as it is, and the module that carries it. @returns {boolean} whether it compiles */
function buildWasm() {
  const env = { ...wasmEnv(), ...QUICK_BUILD };
  const { isGood, output } = run(['timeout', `${LIMIT.rust}`, 'node', 'js/build/wasm.mjs'], env);
  fs.writeFileSync(join(folder, 'wasm.log'), output);
  if (isGood) putWasm();
  return isGood;
}

function putWasm() {
  const wasm = fs.readFileSync(join(tree, 'pkg/adk_session_wasm_bg.wasm'));
  fs.writeFileSync(join(tree, 'js/dist/wasm/loader/wasm_text.js'), wasmTextModule(wasm));
}

/** Runs Rust's tests. @param {Result} result */
function runCargo(result) {
  const { isGood, output } = run(['timeout', `${LIMIT.rust}`, ...CARGO.split(' ')]);
  fs.writeFileSync(join(folder, 'cargo.log'), output);
  result.ran.push(CARGO);
  result.compiles = !/^error: could not compile/m.test(output);
  if (isGood || !result.compiles) return;
  const failed = output.matchAll(/^test (.+?)(?: - should panic)? \.\.\. FAILED$/gm);
  const names = Array.from(failed, ([, name]) => `${name}`);
  result.foundBy.push(...(names.length > 0 ? names : [CARGO]));
}

/** @param {Result} result */
function runTsc(result) {
  result.ran.push(TSC);
  result.compiles = run(TSC.split(' ')).isGood;
}

/** The tests of a file, in steps: a later one runs if the ones before have not found the fault. @param {string} file */
function stepsOf(file) {
  const own = basename(file).replace(/\..*/, '');
  const [first, then] = testsOf(file).map((paths) => {
    const files = paths.flatMap((path) => filesOf(`tests/${path}`, /\.test\.ts$/));
    return [...files.filter((one) => one.includes(own)), ...files]; // its own tests first
  });
  const isOfCargo = file.startsWith('src/') && !file.startsWith('src/wasm/');
  const isOfTsc = file.startsWith('js/');
  return [
    isOfCargo ? [CARGO] : [],
    first.filter((one) => !IS_OF_REST.test(one)),
    [...first, ...then],
    isOfTsc ? [TSC] : [], // it takes too long for all
  ];
}

/** Whether the answer is there: for today's tests, and for the gate's. Rust's tests are in every gate. @param {Result} result */
function isKnown({ foundBy }) {
  return foundBy.some((name) => !gate || !name.startsWith('tests/') || gate.has(name));
}

/** What a result still needs of a step. @param {Result} result @param {string[]} step */
function needed(result, step) {
  const { compiles, foundBy, ran } = result;
  if (!compiles || isKnown(result)) return [];
  const isWanted = (/** @type {string} */ file) => foundBy.length === 0 || (gate && gate.has(file));
  return [...new Set(step)].filter((file) => !ran.includes(file) && isWanted(file));
}

/** @param {Result} result @returns {Promise<boolean>} whether anything ran */
async function judge(result) {
  const { file, start, end, to } = result;
  const steps = stepsOf(file);
  if (steps.every((step) => needed(result, step).length === 0)) return false;
  const original = fs.readFileSync(join(tree, file), 'utf8');
  const isRust = file.endsWith('.rs');
  /** @type {string[]} */
  const suspects = [];
  let hasWasm = false;
  try {
    await write(file, original.slice(0, start) + to + original.slice(end));
    for (const step of steps) {
      const tests = needed(result, step);
      if (tests.length === 0) continue;
      if (tests[0] === CARGO) runCargo(result);
      else if (tests[0] === TSC) runTsc(result);
      else {
        if (isRust && !hasWasm) result.compiles = hasWasm = buildWasm();
        if (!result.compiles) break;
        const { ran, failed } = runUntilFailure(tests);
        result.ran.push(...ran);
        suspects.push(...failed);
        if (failed.length > 0) break;
      }
    }
  } catch (error) {
    if (!(error instanceof Error && 'errors' in error)) throw error;
    result.compiles = false; // it is no TypeScript
  } finally {
    await write(file, original);
    if (hasWasm && spawnSync('git', ['checkout', 'pkg'], { cwd: tree }).status === 0) putWasm();
  }
  for (const test of suspects) {
    if (runUntilFailure([test]).failed.length === 0) result.foundBy.push(test);
    else console.log(`${test} fails without a fault too`);
  }
  if (suspects.length > 0) await judge(result);
  return true;
}

/** @param {Mutant} mutant */
const nameOf = ({ file, start, end, to }) => `${file}:${start}-${end} ${to}`;

/** @param {'js' | 'src'} language @param {number} count */
async function check(language, count) {
  const lines = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trim().split('\n') : [];
  /** @type {Map<string, Result>} */
  const known = new Map(lines.map((line) => JSON.parse(line)).map((one) => [nameOf(one), one]));
  const results = [];
  for (const mutant of shuffled(language)) {
    if (results.length === count) break;
    const fresh = { ...mutant, compiles: true, foundBy: [], ran: [] };
    const result = known.get(nameOf(mutant)) ?? fresh;
    if (await judge(result)) fs.appendFileSync(log, `${JSON.stringify(result)}\n`);
    if (result.compiles) results.push(result);
    const { file, line, operator, from, to } = result;
    const what = `${file}:${line} ${operator}: ${short(from)} → ${short(to)}`;
    const by = result.foundBy.map((name) => (!gate || gate.has(name) ? name : `(${name})`));
    const answer = result.compiles ? by.join(' ') || 'NOT FOUND' : 'does not compile, replaced';
    console.log(`${result.compiles ? results.length : '-'}. ${what}\n   ${answer}`);
  }
  const found = results.filter(({ foundBy }) => foundBy.length > 0).length;
  const byGate = gate ? `, ${results.filter(isKnown).length} by the gate` : '';
  console.log(`${language}/: ${found} of ${results.length} found${byGate}`);
}

/** @param {string} text */
function short(text) {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 60)}…` : line || '(nothing)';
}

prepare();
if (options.only !== 'rust') await check('js', Number(options.js));
if (options.only !== 'js') await check('src', Number(options.rust));
