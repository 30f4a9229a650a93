// A mutation check: faults at random places of js/ and src/, and the first test that finds each of them. Tests of the gate
// run first, then those of the rest.
//
//   node bench/mutants.mjs [--seed 1] [--js 40] [--rust 20]
//
// It works in a worktree of HEAD below target/mutants/. Its results are there as JSON lines, a file for each seed. A run that
// is started again continues from them. On Linux only: it looks for processes in /proc.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { transform } from 'esbuild';
import { GENERATED } from '../js/build/generated.mjs';
import { PREACT, withOwnRuntime } from '../js/build/jsx_runtime.mjs';
import { compiledPath } from '../tests/toolchain/compile.mjs';
import { hostEnv, root, wasmEnv } from '../tests/toolchain/environment.mjs';
import { faultsOfRust, faultsOfTypeScript } from './mutants/faults.mjs';
import { LEFT_OUT, testsOf } from './mutants/rooms.mjs';

/** @typedef {import('./mutants/faults.mjs').Fault & { file: string, line: number, from: string }} Mutant */
const NOT_FOUND = 'NOT FOUND';
const NOT_COMPILED = 'does not compile, replaced';

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    js: { type: 'string', default: '40' },
    rust: { type: 'string', default: '20' },
  },
});

const folder = join(root, 'target/mutants');
const tree = join(folder, 'tree');
const log = join(folder, `seed-${options.seed}.jsonl`);
/** The limit of one test file, and of all tests of Rust: a fault may make them wait for ever. */
const LIMIT = 'timeout -k 9 600';
const CARGO = 'cargo test --workspace --all-features';
const TSC = 'node tests/toolchain/npm_packages.mjs typescript tsc --noEmit -p tests';
const IS_OF_REST = /\.rest\.test\.ts$/;
const mark = `MUTANTS_RUN=${process.pid}`;
/** Without what makes the wasm small. */
const QUICK_BUILD = {
  CARGO_PROFILE_RELEASE_LTO: 'off',
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
  CARGO_PROFILE_RELEASE_INCREMENTAL: 'true',
};

/** Runs a command in the tree, and ends all that it leaves. @param {string} command @param {NodeJS.ProcessEnv} env */
function run(command, env = hostEnv(), files = /** @type {string[]} */ ([])) {
  const { status, stdout, stderr, error } = spawnSync('bash', ['-c', command, 'bash', ...files], {
    cwd: tree,
    env: { ...env, CARGO_TARGET_DIR: join(tree, 'target'), MUTANTS_RUN: `${process.pid}` },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error) throw error;
  killLeft();
  return { isGood: status === 0, output: stdout + stderr };
}

/** Ends the processes with the mark: servers and browsers of tests that were ended. */
function killLeft() {
  for (const pid of fs.readdirSync('/proc').map(Number)) {
    try {
      const environment = pid > 0 ? fs.readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
      if (environment.split('\0').includes(mark)) process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

/** @param {string[]} args */
const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim();

/** Makes the tree, or puts it back as HEAD is. */
function prepare() {
  git('worktree', 'add', '--force', '--detach', tree);
  git('-C', tree, 'checkout', '--force', '--detach', git('rev-parse', 'HEAD'));
  git('-C', tree, 'clean', '-fdq');
  fs.mkdirSync(join(tree, 'target'), { recursive: true });
  for (const path of ['node_modules', 'target/tools', 'target/python']) {
    const [from, to] = [join(root, path), join(tree, path)];
    if (fs.existsSync(from) && !fs.existsSync(to)) fs.symlinkSync(fs.realpathSync(from), to);
  }
  // A build of the wasm writes it.
  fs.copyFileSync(join(root, 'target/toolchain.env'), join(tree, 'target/toolchain.env'));
  const { isGood, output } = run('npm run build:js && node tests/toolchain/compile.mjs');
  if (!isGood) throw new Error(output);
}

/** @param {string} path in the tree, a file or a folder @param {RegExp} kind @returns {string[]} */
function filesOf(path, kind) {
  const whole = join(tree, path);
  if (fs.statSync(whole).isFile()) return [path];
  const names = fs.readdirSync(whole, { encoding: 'utf8', recursive: true }).sort();
  return names.map((name) => `${path}/${name}`).filter((name) => kind.test(name));
}

/** All faults of the sources, in an order that the seed alone decides. @param {'js' | 'src'} language @returns {Mutant[]} */
function shuffled(language) {
  const kind = language === 'js' ? /\.tsx?$/ : /\.rs$/;
  const sources = filesOf(language, kind).filter((file) => !LEFT_OUT.test(file));
  const mutants = sources.flatMap((file) => {
    const text = fs.readFileSync(join(tree, file), 'utf8');
    const faults = language === 'js' ? faultsOfTypeScript(file, text) : faultsOfRust(text);
    return faults.map((fault) => {
      const line = text.slice(0, fault.start).split('\n').length;
      return { file, line, from: text.slice(fault.start, fault.end), ...fault };
    });
  });
  const where = `${sources.length} files of ${language}/`;
  console.log(`${mutants.length} places in ${where}, seed ${options.seed}`);
  const random = (/** @type {Mutant} */ mutant) =>
    createHash('sha256')
      .update(`${options.seed} ${nameOf(mutant)}`)
      .digest('hex');
  const order = new Map(mutants.map((mutant) => [mutant, random(mutant)]));
  return mutants.sort((one, other) => (`${order.get(one)}` < `${order.get(other)}` ? -1 : 1));
}

/** @param {Mutant} mutant */
const nameOf = ({ file, start, end, to }) => `${file}:${start}-${end} ${to}`;

/**
 * Writes a source, and what the tests run of it.
 *
 * @param {string} file
 * @param {string} text
 * @returns {Promise<boolean>} whether it compiles
 */
async function write(file, text) {
  fs.writeFileSync(join(tree, file), text);
  if (file.endsWith('.rs')) {
    const env = { ...wasmEnv(), ...QUICK_BUILD };
    const isOriginal = git('-C', tree, 'status', '--porcelain', 'src') === '';
    if (isOriginal) git('-C', tree, 'checkout', 'pkg');
    else if (!run('node js/build/wasm.mjs', env).isGood) return false;
    for (const { file, from, text } of GENERATED) {
      const module = text(fs.readFileSync(join(tree, from)));
      fs.writeFileSync(join(tree, 'js/dist', file), module);
    }
    return run('node tests/toolchain/compile.mjs').isGood;
  }
  const define = { 'import.meta.url': JSON.stringify(`file://${join(tree, file)}`) };
  let code;
  try {
    const loader = file.endsWith('.tsx') ? 'tsx' : 'ts';
    const jsx = /** @type {const} */ ({ jsx: 'automatic', jsxImportSource: 'preact' });
    ({ code } = await transform(text, { loader, ...jsx, target: 'es2022', define }));
  } catch {
    return false; // it is no TypeScript
  }
  fs.writeFileSync(join(tree, compiledPath(file)), code);
  // The package as other programs load it. The one module that is bundled stays.
  const built = file.replace(/^js\/(.*)\.tsx?$/, '$1.js');
  const path = join(tree, 'js/dist', built);
  if (fs.existsSync(path) && built !== PREACT) fs.writeFileSync(path, withOwnRuntime(built, code));
  return true;
}

/** Runs test files, two at a time, until one fails. Returns that one. @param {string[]} files */
function firstFailure(files) {
  // The first failed test ends its file and xargs; `run` ends what they leave.
  const tap = `${LIMIT} node --enable-source-maps {} 2>&1 || echo "not ok"`;
  const one = `grep -qm1 "^ *not ok" < <(${tap}) && { echo {}; kill $PPID; }`;
  const all = `printf '%s\\0' "$@" | xargs -0 -r -P 2 -I{} bash -c '${one}; :'`;
  const failed = run(all, hostEnv(), files.map(compiledPath)).output.split('\n');
  return files.find((file) => failed.includes(compiledPath(file)));
}

/** The tests of a file in steps, its own first. @param {string} file @returns {string[][]} */
function stepsOf(file) {
  const own = basename(file).replace(/\..*/, '');
  const [first, then] = testsOf(file).map((paths) => {
    const files = paths.flatMap((path) => filesOf(`tests/${path}`, /\.test\.ts$/));
    return [...files.filter((one) => one.includes(own)), ...files];
  });
  const isOfRest = (/** @type {string} */ one) => IS_OF_REST.test(one);
  const isOfGate = (/** @type {string} */ one) => !isOfRest(one);
  return [first.filter(isOfGate), then.filter(isOfGate), [...first, ...then].filter(isOfRest)];
}

/**
 * Runs Rust's tests. Returns the first that fails.
 *
 * @returns {string | undefined}
 */
function firstFailureOfCargo() {
  const { isGood, output } = run(`${LIMIT} ${CARGO}`);
  if (/^error: could not compile/m.test(output)) return NOT_COMPILED;
  const [, name] = /^test (.+?)(?: - should panic)? \.\.\. FAILED$/m.exec(output) ?? [];
  return isGood ? undefined : `${CARGO}: ${name ?? 'no end'}`;
}

/** Finds the test that finds a fault. @param {Mutant} mutant @returns {Promise<string>} */
async function judge({ file, start, end, to }) {
  const source = fs.readFileSync(join(tree, file), 'utf8');
  const faulty = source.slice(0, start) + to + source.slice(end);
  /** @param {() => string | undefined} check */
  const withFault = async (check) => {
    const answer = (await write(file, faulty)) ? check() : NOT_COMPILED;
    await write(file, source);
    return answer;
  };
  if (file.startsWith('src/') && !file.startsWith('src/wasm/')) {
    fs.writeFileSync(join(tree, file), faulty);
    const answer = firstFailureOfCargo();
    fs.writeFileSync(join(tree, file), source);
    if (answer !== undefined) return answer;
  }
  for (const [index, step] of stepsOf(file).entries()) {
    let tests = step;
    for (;;) {
      const answer = await withFault(() => firstFailure(tests));
      if (answer === NOT_COMPILED) return answer;
      if (answer === undefined) break;
      if (firstFailure([answer]) === undefined) return answer;
      console.log(`${answer} fails without a fault too`);
      tests = tests.filter((test) => test !== answer);
    }
    // After the gate's tests, since it takes long.
    const isToCheck = file.startsWith('js/') && index === 1;
    if (isToCheck && (await withFault(tscAnswer)) !== undefined) return NOT_COMPILED;
  }
  return NOT_FOUND;
}

/** @returns {string | undefined} */
const tscAnswer = () => (run(TSC).isGood ? undefined : NOT_COMPILED);

/** @param {'js' | 'src'} language @param {number} count */
async function check(language, count) {
  const lines = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trim().split('\n') : [];
  /** @type {Map<string, string>} */
  const known = new Map(
    lines.map((line) => JSON.parse(line)).map((one) => [nameOf(one), one.answer]),
  );
  const answers = [];
  for (const mutant of shuffled(language)) {
    if (answers.length === count) break;
    const { file, line, operator, from, to } = mutant;
    const before = known.get(nameOf(mutant));
    const answer = before ?? (await judge(mutant));
    if (before === undefined) fs.appendFileSync(log, `${JSON.stringify({ ...mutant, answer })}\n`);
    if (answer !== NOT_COMPILED) answers.push(answer);
    const number = answer === NOT_COMPILED ? '-' : answers.length;
    console.log(
      `${number}. ${file}:${line} ${operator}: ${short(from)} → ${short(to)}\n   ${answer}`,
    );
  }
  const found = answers.filter((answer) => answer !== NOT_FOUND);
  const byRest = found.filter((answer) => IS_OF_REST.test(answer));
  const where = `${language}/: ${found.length} of ${answers.length} found`;
  console.log(`${where}, ${found.length - byRest.length} by the gate`);
}

/** @param {string} text */
function short(text) {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 60)}…` : line || '(nothing)';
}

prepare();
await check('js', Number(options.js));
await check('src', Number(options.rust));
