// Imports the given modules one after the other, and sends to the parent process what came of each. One process for all
// of them: each would load the package and the framework again.

import { pathToFileURL } from 'node:url';

// The first example loads the framework, which takes long while other tests run.
const PATIENCE = 100_000;

/** @type {(error: unknown) => void} */
let failCurrent = () => undefined;
process.on('uncaughtException', (error) => failCurrent(error));
process.on('unhandledRejection', (error) => failCurrent(error));

/** @param {string} file */
async function run(file) {
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
    process.send?.({ file });
  } catch (error) {
    process.send?.({
      file,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  } finally {
    clearTimeout(timer);
  }
}

for (const file of process.argv.slice(2)) await run(file);
process.exit();
