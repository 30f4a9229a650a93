// How long each test file takes. The runner loads this module before each file, whose process notes its time when it ends.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** The variable with the file for the times. Without it nothing is noted. */
export const TIMES = 'ADK_SESSION_WASM_FILE_TIMES';

/** A file of the gate takes at most so many seconds. A file of the rest may take longer. */
export const MOST_SECONDS = 20;

/**
 * From so many times {@link MOST_SECONDS} on, a file fails. It is so much more, because other programs also slow down the disk,
 * the servers and the browsers that a file waits for.
 */
const TOLERANCE = 2;

/**
 * @typedef {{ seconds: number, using: number, waiting: number }} Time `seconds` since the process began; of these its main
 * thread was `using` a processor, and `waiting` for one that others used
 */

/**
 * Returns how many seconds a file would take on a machine that does nothing else. Whatever the file waits for is slowed down
 * like the file itself: by the ratio of the time in which it wants a processor to the time in which it has one.
 *
 * @param {Time} time
 */
export function quietSeconds({ seconds, using, waiting }) {
  return using > 0 ? (seconds * using) / (using + waiting) : seconds;
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

/** The time of this process so far; `undefined` on a system that does not tell what its main thread waits for. */
function timeSoFar() {
  const schedule = '/proc/self/schedstat';
  if (!existsSync(schedule)) return undefined;
  const nanoseconds = readFileSync(schedule, 'utf8').split(' ').map(Number);
  const [using = 0, waiting = 0] = nanoseconds.map((each) => each / 1e9);
  return { seconds: performance.now() / 1000, using, waiting };
}

const path = process.env[TIMES];
const program = process.argv[1]?.replaceAll('\\', '/') ?? '';
const [, file] = /\/target\/compiled\/(.+\.test)\.js$/.exec(program) ?? [];
if (path !== undefined && isMainThread && file !== undefined && !file.endsWith('.rest.test')) {
  process.once('exit', () => {
    const time = timeSoFar();
    if (time !== undefined) {
      appendFileSync(path, `${JSON.stringify({ file: `${file}.ts`, ...time })}\n`);
    }
  });
}
