// Runs one step: a command with a log file and a time limit. Counts its tests, and ends all of its processes.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join, relative } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { root } from './environment.mjs';
import { MOST_SECONDS, slowFiles, TIMES } from './file_time.mjs';

/**
 * @typedef {'preparation' | 'check' | 'cargo' | 'node'} Kind a preparation counts only if it fails; a check counts as one
 * test; `cargo` and `node` print how many tests passed
 * @typedef {{ passed: number, failed: number, skipped: string[] }} Counts
 * @typedef {{
 *   name: string,
 *   kind: Kind,
 *   command: (env: NodeJS.ProcessEnv, files?: string[]) => string[],
 *   needs: string[],
 *   files?: string[],
 *   isTimed?: boolean,
 * }} Step `command` runs in the repository's root, and may add to its environment. `needs` are parts of the set-up; each of
 * its test `files` may need more (test_files.mjs). `isTimed`: a file that takes too long for the gate fails
 */

const logs = join(root, 'target', 'test-logs');
const tailLines = 100;
/** A step that takes longer has failed. */
const MOST_MINUTES = 40;

// Every process of a step inherits a mark, so that a browser outside of the step's process group is found.
const markName = 'ADK_SESSION_WASM_TEST_RUN';
const run = `${process.pid}-${Date.now()}`;

/** @type {Map<number, string>} the marks of the steps that run, by their process groups */
const running = new Map();

/** @param {Step} step @param {NodeJS.ProcessEnv} env @returns {Promise<Counts & { log: string }>} */
export async function runStep(step, env) {
  const started = performance.now();
  const path = join(logs, `${step.name}.log`);
  // Another run in this clone may write the log of a step with this name.
  const own = `${path}.${process.pid}`;
  const stopShowing = step.kind === 'preparation' ? showProgress(own) : undefined;
  const problem = await runLogged(step, env, own);
  stopShowing?.();
  const log = fs.readFileSync(own, 'utf8');
  fs.renameSync(own, path);
  const counts = countsOf(step.kind, problem === undefined, log);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const slow = slowFiles(timesBeside(own));
  fs.rmSync(timesBeside(own), { force: true });
  const tooSlow = slow.filter(({ isTooSlow }) => isTooSlow).length;
  const { passed, skipped } = counts;
  const failed = counts.failed + tooSlow;
  const counted = passed + failed > 0 ? `${passed} passed, ${failed} failed` : 'done';
  const [name, outcome] = [step.name.padEnd(16), counted.padEnd(26)];
  console.log(
    `${name}${outcome} ${seconds.padStart(7)} s  ${failed > 0 ? (problem ?? '') : ''}`.trimEnd(),
  );
  for (const test of skipped) console.log(`    skipped: ${test}`);
  for (const { file, seconds: taken, isTooSlow } of slow) {
    const rule = `${taken.toFixed(0)} s without other programs; a file of the gate has ${MOST_SECONDS}`;
    console.log(`    ${isTooSlow ? 'failed' : 'slow'}: ${file} takes ${rule}`);
  }
  if (counts.failed > 0) {
    const { names, details } = failuresIn(log);
    for (const test of names) console.log(`    failed: ${test}`);
    console.log(details.join('\n').replace(/^/gm, '    | '));
    console.log(`    whole log: ${relative(root, path)}`);
  }
  return { passed, failed, skipped, log };
}

/** The file for the times of a step's test files. @param {string} log */
const timesBeside = (log) => `${log}.times`;

/**
 * Prints the lines of setup.sh while they come: it may take minutes.
 *
 * @param {string} path of the log
 * @returns {() => void} ends it
 */
function showProgress(path) {
  let shown = 0;
  const show = () => {
    const log = fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '';
    const lines = log.split('\n').slice(0, -1);
    for (const line of lines.slice(shown)) if (line.startsWith('set-up: ')) console.log(line);
    shown = lines.length;
  };
  const timer = setInterval(show, 1000);
  return () => {
    clearInterval(timer);
    show();
  };
}

/**
 * A step of tests has failed too if its process failed, or if it ran no test.
 *
 * @param {Kind} kind
 * @param {boolean} succeeded whether the step's process ended with exit code 0
 * @param {string} log without colours
 * @returns {Counts}
 */
function countsOf(kind, succeeded, log) {
  const failure = succeeded ? 0 : 1;
  if (kind === 'preparation') return { passed: 0, failed: failure, skipped: [] };
  if (kind === 'check') return { passed: 1 - failure, failed: failure, skipped: [] };
  const { passed, failed, skipped } = kind === 'cargo' ? cargoTests(log) : nodeTests(log);
  return { passed, failed: Math.max(failed, passed === 0 ? 1 : failure), skipped };
}

/** Counts the tests of `cargo test`, which prints one such line for each test binary. @param {string} log */
function cargoTests(log) {
  const results = [...log.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)];
  /** @param {number} group */
  const sum = (group) => results.reduce((total, result) => total + Number(result[group]), 0);
  const skipped = [...log.matchAll(/^test (.+) \.\.\. ignored/gm)].map(([, name = '']) => name);
  return { passed: sum(1), failed: sum(2), skipped };
}

/** Counts the tests of `node --test`. Only its last summary counts: a test may print that of another runner. @param {string} log */
function nodeTests(log) {
  /** @param {string} name */
  const last = (name) =>
    Number([...log.matchAll(RegExp(`^ℹ ${name} (\\d+)$`, 'gm'))].at(-1)?.[1] ?? 0);
  const skipped = [...log.matchAll(/^\s*﹣ (.+?) \([\d.]+ms\) # (.*)$/gm)];
  return {
    passed: last('pass'),
    failed: last('fail') + last('cancelled'),
    skipped: skipped
      .filter(([, , reason]) => reason !== 'test name does not match pattern')
      .map(([, name, reason]) => `${name}: ${reason}`),
  };
}

/**
 * Returns the names of the tests that failed, and what the log tells of the first one. Of a log without such names: its end.
 *
 * @param {string} log
 * @returns {{ names: string[], details: string[] }}
 */
export function failuresIn(log) {
  const [, ofNode = ''] = log.split(/^✖ failing tests:$/m);
  const node = ofNode.split(/^(?=test at .+:\d+:\d+$)/m).slice(1);
  const cargo = log.split(/^(?=---- .+ stdout ----$)/m).slice(1);
  const found = node.length > 0 ? node : cargo;
  const names = found.map((text) => {
    const [, name = ''] =
      /^(?:✖ (.+) \([\d.]+ms\)|---- (.+) stdout ----)$/m.exec(text)?.filter(Boolean) ?? [];
    return name;
  });
  const text = (found[0] ?? log).trimEnd().split('\n');
  return { names, details: found.length > 0 ? text.slice(0, tailLines) : text.slice(-tailLines) };
}

/** @param {Step} step @param {NodeJS.ProcessEnv} env @param {string} path @returns {Promise<string | undefined>} the failure, if the step failed */
async function runLogged(step, env, path) {
  fs.mkdirSync(logs, { recursive: true });
  const log = fs.openSync(path, 'w');
  try {
    const command = step.command(env);
    fs.writeSync(log, `$ ${command.join(' ')}\n`);
    const marked = { ...env, [markName]: `${run}-${step.name}` };
    if (step.isTimed === true) marked[TIMES] = timesBeside(path);
    return await runToEnd(command, marked, log);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    fs.closeSync(log);
  }
}

/**
 * The output goes directly to the file: an orphan that keeps a pipe open would block this process.
 *
 * @param {string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @param {number} log
 * @returns {Promise<string | undefined>}
 */
function runToEnd([program = '', ...args], env, log) {
  return new Promise((resolve) => {
    // A new process group, which can be killed as a whole.
    // On Windows npm and the programs of packages are scripts, which only a shell can start. A line of that shell has at
    // most 8,191 characters: the names of a step's test files are longer, and Node needs no shell.
    const shell = process.platform === 'win32' && program !== 'node';
    const options = { cwd: root, env, stdio: ['ignore', log, log], detached: true, shell };
    const child = spawn(program, args, /** @type {any} */ (options));
    const group = child.pid ?? 0;
    running.set(group, env[markName] ?? '');
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      killStep(group);
    }, MOST_MINUTES * 60_000);
    /** @param {string | undefined} problem */
    const end = (problem) => {
      clearTimeout(limit);
      killStep(group);
      running.delete(group);
      resolve(late ? `it took longer than ${MOST_MINUTES} minutes` : problem);
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) => {
      end(code === 0 ? undefined : `it ended with ${signal ?? `exit code ${code}`}`);
    });
  });
}

/** Ends all running steps. */
export function killRunning() {
  for (const group of running.keys()) killStep(group);
}

/** Ends a step with its drivers, browsers and screens. @param {number} group */
function killStep(group) {
  if (group === 0) return; // the step has not started
  for (const pid of [-group, ...processesWith(running.get(group) ?? '')]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}

/** Finds processes by their mark, on Linux only. @param {string} mark */
function processesWith(mark) {
  const names = fs.existsSync('/proc') ? fs.readdirSync('/proc') : [];
  return names.map(Number).filter((pid) => pid > 0 && isMarked(pid, mark));
}

/** @param {number} pid @param {string} mark */
function isMarked(pid, mark) {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${markName}=${mark}\0`);
  } catch {
    return false; // it has ended, or belongs to another user
  }
}
