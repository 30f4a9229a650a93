// Runs one step with a log file and a time limit, and ends all of its processes.

import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs';
import { join, relative } from 'node:path';
import { countsOf } from './counts.mjs';
import { root } from './environment.mjs';

/**
 * @typedef {{
 *   name: string,
 *   kind: import('./counts.mjs').Kind,
 *   command: (env: NodeJS.ProcessEnv) => string[],
 *   minutes: number,
 *   tools?: 'wasm' | 'browsers' | undefined,
 * }} Step `command` runs in the repository's root; it may add to its environment, or throw if it cannot run
 */

const logs = join(root, 'target', 'test-logs');
const tailLines = 100;

// Every process of a step inherits a mark, so that a browser outside of the step's process group is found.
const markName = 'ADK_SESSION_WASM_TEST_RUN';
const run = `${process.pid}-${Date.now()}`;

/** @type {Map<number, string>} the marks of the steps that run, by their process groups */
const running = new Map();

/**
 * @param {Step} step
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<import('./counts.mjs').Counts>}
 */
export async function runStep(step, env) {
  const started = performance.now();
  const path = join(logs, `${step.name}.log`);
  const problem = await runLogged(step, env, path);
  const log = readFileSync(path, 'utf8');
  const { passed, failed, reason } = countsOf(step.kind, problem === undefined, log);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const counted = passed + failed > 0 ? `${passed} passed, ${failed} failed` : 'done';
  const why = failed > 0 ? (problem ?? reason ?? '') : '';
  const [name, outcome] = [step.name.padEnd(15), counted.padEnd(26)];
  console.log(`${name}${outcome} ${seconds.padStart(7)} s  ${why}`.trimEnd());
  if (failed > 0) {
    console.log(log.trimEnd().split('\n').slice(-tailLines).join('\n').replace(/^/gm, '    | '));
    console.log(`    whole log: ${relative(root, path)}`);
  }
  return { passed, failed };
}

/**
 * @param {Step} step
 * @param {NodeJS.ProcessEnv} env
 * @param {string} path
 * @returns {Promise<string | undefined>} the failure, if the step failed
 */
async function runLogged(step, env, path) {
  mkdirSync(logs, { recursive: true });
  const log = openSync(path, 'w');
  try {
    const command = step.command(env);
    writeSync(log, `$ ${command.join(' ')}\n`);
    return await runToEnd(
      command,
      { ...env, [markName]: `${run}-${step.name}` },
      step.minutes,
      log,
    );
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    closeSync(log);
  }
}

/**
 * The output goes directly to the file: an orphan that keeps a pipe open would block this process.
 *
 * @param {string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @param {number} minutes
 * @param {number} log
 * @returns {Promise<string | undefined>}
 */
function runToEnd([program = '', ...args], env, minutes, log) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      env,
      stdio: ['ignore', log, log],
      detached: true, // a new process group, which can be killed as a whole
    });
    const group = child.pid ?? 0;
    running.set(group, env[markName] ?? '');
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      killStep(group);
    }, minutes * 60_000);
    /** @param {string | undefined} problem */
    const end = (problem) => {
      clearTimeout(limit);
      killStep(group);
      running.delete(group);
      resolve(late ? `it took longer than ${minutes} minutes` : problem);
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
  kill(-group);
  for (const pid of processesWith(running.get(group) ?? '')) kill(pid);
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

/** Finds processes by their mark, on Linux only. @param {string} mark */
function processesWith(mark) {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && environmentOf(pid).includes(`${markName}=${mark}`));
  } catch {
    return [];
  }
}

/** @param {number} pid */
function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return []; // it has ended, or belongs to another user
  }
}
