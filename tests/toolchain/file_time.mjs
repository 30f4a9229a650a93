// How long each test file takes. The runner loads this module before each file, whose process notes its time when it ends.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/** The variable with the file for the times. Without it nothing is noted. */
export const TIMES = 'ADK_SESSION_WASM_FILE_TIMES';

/** A file of the gate takes at most so many seconds. A file of the rest may take longer. */
export const MOST_SECONDS = 20;

/** A file fails if it takes so many times as long. The load is an estimate of what else slows a file down. */
const TOLERANCE = 2;

/** @typedef {{ seconds: number, load: number }} Time `load`: how many programs wanted a processor at a time */

/**
 * Returns how many seconds a file would take on a machine that does nothing else. All programs share the processors, also the
 * servers and browsers that the file waits for.
 *
 * @param {Time} time
 */
export function quietSeconds({ seconds, load }) {
  return seconds / Math.max(1, load / cpus().length);
}

/**
 * Returns the files that take longer than a file of the gate may, the slowest first.
 *
 * @param {string} path of the times
 * @returns {{ file: string, seconds: number, isTooSlow: boolean }[]}
 */
export function slowFiles(path) {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines
    .map((line) => /** @type {Time & { file: string }} */ (JSON.parse(line)))
    .map(({ file, ...time }) => ({ file, seconds: quietSeconds(time) }))
    .filter(({ seconds }) => seconds > MOST_SECONDS)
    .sort((one, other) => other.seconds - one.seconds)
    .map((slow) => ({ ...slow, isTooSlow: slow.seconds > TOLERANCE * MOST_SECONDS }));
}

/**
 * Whether the rule holds for a file. A file of tests/browser/ opens one browser for all that it tests there, and some of
 * these take minutes.
 *
 * @param {string | undefined} file
 */
export function isTimed(file) {
  return file !== undefined && !file.endsWith('.rest.test') && !file.startsWith('tests/browser/');
}

/** The mean of a minute. On Windows there is none, so nothing is noted. */
const load = () => loadavg()[0] ?? 0;

const path = process.env[TIMES];
const program = process.argv[1]?.replaceAll('\\', '/') ?? '';
const [, file] = /\/target\/compiled\/(.+\.test)\.js$/.exec(program) ?? [];
if (path !== undefined && isMainThread && isTimed(file) && process.platform !== 'win32') {
  const loadBefore = load();
  process.once('exit', () => {
    const time = { seconds: performance.now() / 1000, load: Math.max(loadBefore, load()) };
    appendFileSync(path, `${JSON.stringify({ file: `${file}.ts`, ...time })}\n`);
  });
}
