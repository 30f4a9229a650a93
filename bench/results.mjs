// The results of several runs as one file, and what changed between two files by more than the noise.

import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** @typedef {import('./measure.mjs').Result} Result */

/**
 * @typedef {Result & { runs: number[] }} Measured `runs` has what is compared of each run
 * @typedef {{ commit: string, date: string, processor: string, node: string, load: number }} Machine
 * @typedef {{ machine: Machine, results: Measured[] }} Results
 * @typedef {{ case: string, before: number, after: number, noise: number }} Change `noise` and the change are parts of `before`
 */

/** At a larger part of its processors in use than this, the machine has other work. */
const QUIET_LOAD = 0.15;

/**
 * What each table of docs/performance.md and docs/performance_of_features.md says of its run. A `+` after the commit:
 * there were changes beside it. `load` is how many processors others use in the second before the run. The system's mean
 * of a minute would still count the run before.
 *
 * @returns {Promise<Machine>}
 */
export async function machine() {
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, { encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+';
  return {
    commit: git('rev-parse', '--short', 'HEAD') + changed,
    date: new Date().toISOString().slice(0, 10),
    processor: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    node: process.version,
    load: await usedProcessors(),
  };
}

/** How many processors are in use during one second. */
async function usedProcessors() {
  const before = processorTimes();
  await sleep(1000);
  const after = processorTimes();
  return cpus().length * (1 - (after.idle - before.idle) / (after.all - before.all));
}

/** What all processors have done so far, in milliseconds. */
function processorTimes() {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, time) => sum + time.idle, 0);
  const all = times.flatMap(Object.values).reduce((sum, time) => sum + time, 0);
  return { idle, all };
}

/** Whether other programs ran beside the benches. @param {Machine} machine at the start */
export function isBusy({ load }) {
  return load > QUIET_LOAD * cpus().length;
}

/** The ratio if there is one: other load changes both of its sides. @param {Result} result */
function comparedOf({ ratio, ours }) {
  return ratio ?? ours;
}

/**
 * Returns the run in the middle for each case, with what all runs had.
 *
 * @param {readonly (readonly Result[])[]} runs
 * @returns {Measured[]}
 */
export function middleOf(runs) {
  return (runs[0] ?? []).map(({ case: name }) => {
    const all = runs.flatMap((run) => run.filter((result) => result.case === name));
    const sorted = all.sort((one, other) => comparedOf(one) - comparedOf(other));
    const middle = /** @type {Result} */ (sorted[sorted.length >> 1]);
    return { ...middle, runs: sorted.map(comparedOf) };
  });
}

/** How far the runs of a case lie apart, as a part of the middle one. @param {Measured} result */
function spreadOf(result) {
  return (Math.max(...result.runs) - Math.min(...result.runs)) / Math.abs(comparedOf(result));
}

/**
 * Returns the cases whose value moved by more than the runs before and after lie apart, in the order of the later file.
 *
 * @param {Results} before
 * @param {Results} after
 * @returns {Change[]}
 */
export function changesOf(before, after) {
  const known = new Map(before.results.map((result) => [result.case, result]));
  return after.results.flatMap((result) => {
    const earlier = known.get(result.case);
    // One run says nothing of the noise.
    if (!earlier || earlier.runs.length < 2 || result.runs.length < 2) return [];
    const [from, to] = [comparedOf(earlier), comparedOf(result)];
    const noise = spreadOf(earlier) + spreadOf(result);
    const hasChanged = Math.abs(to - from) / Math.abs(from) > noise;
    return hasChanged ? [{ case: result.case, before: from, after: to, noise }] : [];
  });
}
