// Imports the given modules one after the other, and sends to the parent process what came of each. One process for all
// of them: each would load the package and the framework again.

import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatWithOptions } from 'node:util';

// The first example loads the framework, which takes long while other tests run.
const PATIENCE = 100_000;

/** @type {(error: unknown) => void} */
let failCurrent = () => undefined;
process.on('uncaughtException', (error) => failCurrent(error));
process.on('unhandledRejection', (error) => failCurrent(error));

/**
 * What the current example has printed, by the lines of its file.
 *
 * @type {Record<string, string>}
 */
let printed = {};
let current = '';
/** @param {unknown[]} values */
console.log = (...values) => {
  const line = new Error().stack?.split(`${current}:`)[1]?.split(':')[0] ?? '';
  const text = formatWithOptions({ breakLength: Infinity }, ...values);
  printed[line] = line in printed ? `${printed[line]} ${text}` : text;
};

/** @param {string} file */
async function run(file) {
  printed = {};
  current = basename(file);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const failure = new Promise((_, reject) => {
    failCurrent = reject;
    timer = setTimeout(() => reject(new Error(`it took longer than ${PATIENCE} ms`)), PATIENCE);
  });
  try {
    await Promise.race([import(pathToFileURL(file).href), failure]);
    // Errors of callbacks come a moment later.
    await Promise.race([new Promise((done) => setTimeout(done, 5)), failure]);
    process.send?.({ file, printed });
  } catch (error) {
    process.send?.({
      file,
      printed,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  } finally {
    clearTimeout(timer);
  }
}

for (const file of process.argv.slice(2)) await run(file);
process.exit();
