#!/usr/bin/env node
/**
 * The command `adk-session-wasm`, for Node: moves sessions from one store to another. `--help` tells how.
 *
 * @module
 */
import { run } from './run.js';

process.exitCode = await run(process.argv.slice(2), { out: process.stdout, err: process.stderr });
