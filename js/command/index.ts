#!/usr/bin/env node
/**
 * The command `adk-session-wasm`, for Node: copies sessions from one store to another, or prints the SQL that
 * creates the tables. `--help` shows its usage.
 *
 * @module
 */
import { run } from './run.js';

process.exitCode = await run(process.argv.slice(2), { out: process.stdout, err: process.stderr });
