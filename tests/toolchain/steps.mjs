// Runs one step: its own log file, its own time limit, and nothing left behind.

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
 * }} Step `command` is run from the repository's root; it may add to its environment, or throw why it cannot run
 */

const logs = join(root, 'target', 'test-logs');
const tailLines = 100;

// Every process that a step starts inherits a mark, so that a browser which left the step's process group is found too.
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
 * @returns {Promise<string | undefined>} what went wrong, if anything did
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
 * The output goes to the file itself, not through a pipe: an orphan that keeps a pipe open would keep us waiting.
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
      detached: true, // a process group of its own, to be killed as a whole
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

/** Ends all steps that run. */
export function killRunning() {
  for (const group of running.keys()) killStep(group);
}

/** Ends a step with whatever drivers, browsers and screens it started. @param {number} group */
function killStep(group) {
  if (group === 0) return; // it was never started
  kill(-group);
  for (const pid of processesWith(running.get(group) ?? '')) kill(pid);
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Linux only; elsewhere the process group has to do. @param {string} mark */
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
    return []; // ended, or someone else's
  }
}
