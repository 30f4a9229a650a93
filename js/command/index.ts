#!/usr/bin/env node
/**
 * The command `adk-session-wasm`, for Node: copies sessions from one store to another, or prints the SQL that
 * creates the tables. `--help` shows its usage.
 *
 * @module
 */
import { run } from './run.js';

const { stdout: out, stderr: err } = process;
// An unhandled error event would end the program. What is written to `out` is awaited, and its errors are reported
// there.
out.on('error', () => (process.exitCode = 1));
err.on('error', () => (process.exitCode = 1));
const exitCode = await run(process.argv.slice(2), { out, err });
if (exitCode !== 0) process.exitCode = exitCode;
