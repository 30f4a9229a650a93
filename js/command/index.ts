#!/usr/bin/env node
/**
 * The command `adk-session-wasm`, for Node: copies sessions from one store to another, or prints the SQL that
 * creates the tables. `--help` shows its usage.
 *
 * @module
 */
import { run } from './run.js';

const { stdout: out, stderr: err } = process;
// An unhandled error event would end the program in the middle of a migration.
out.on('error', ({ code }: NodeJS.ErrnoException) => {
  process.exitCode = 1;
  // The reader of a pipe may have seen enough.
  if (code !== 'EPIPE') err.write(`adk-session-wasm: The output cannot be written: ${code}.\n`);
});
err.on('error', () => (process.exitCode = 1));
const exitCode = await run(process.argv.slice(2), { out, err });
if (exitCode !== 0) process.exitCode = exitCode;
