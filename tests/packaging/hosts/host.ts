// A host: a place where a user installs, builds and runs the package.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Routes } from '../../browser/server.js';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { environmentWithout, install, NAME } from '../installed.js';

export interface Host {
  readonly name: string;
  /**
   * Installs the package, builds a program with it, and runs the program. Fails if that does not work or if a tool
   * warns.
   *
   * @returns what else to print of the host
   */
  readonly check: (pages: Pages) => Promise<string | undefined>;
}

/** Shows pages in Chromium. */
export interface Pages {
  /** Returns what the page reports. */
  visit<T>(url: string): Promise<T>;
  /** The same, for a page that this process serves. Fails if the page requests anything else. */
  serve<T>(routes: Routes): Promise<T>;
}

/** A project with tools of npm and with the package. */
export interface Project {
  readonly folder: string;
  /** Loads a tool. */
  readonly require: NodeJS.Require;
  /** Writes files of a new consumer, and returns its folder. */
  write(name: string, files: Record<string, string>): string;
  /** Runs a program of a tool in Node 24, which the newest tools need, by `runQuietly`. */
  run(cwd: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<string>;
}

/** The supported major versions of Node. npm has the newest binary of each for this machine. */
export const NODE_VERSIONS = [20, 22, 24] as const;

/** Installs a version of Node once, below target/, and returns the path of its binary. */
export function nodeBinary(major: (typeof NODE_VERSIONS)[number]): string {
  const name = `node-${process.platform}-${process.arch}`;
  return join(installPackages(`node_${major}`), 'node_modules', name, 'bin/node');
}

const projects = new Map<string, Project>();

/** Installs the tools of a folder of tests/packages/ once, and puts the packed package beside them. */
export function projectWith(name: string): Project {
  const project = projects.get(name) ?? makeProject(name);
  projects.set(name, project);
  return project;
}

function makeProject(name: string): Project {
  const folder = installPackages(name);
  const installed = join(folder, 'node_modules', NAME);
  rmSync(installed, { recursive: true, force: true });
  cpSync(install().folder, installed, { recursive: true });
  return {
    folder,
    require: createRequire(join(folder, 'package.json')),
    write(consumer, files) {
      const path = join(folder, consumer);
      rmSync(path, { recursive: true, force: true });
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(path, file)), { recursive: true });
        writeFileSync(join(path, file), text);
      }
      return path;
    },
    run: (cwd, args, env) => runQuietly(nodeBinary(24), args, cwd, env),
  };
}

/** Runs a command and returns its output. Fails if the command fails or mentions a warning. */
export async function runQuietly(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(command, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    encoding: 'utf8',
    timeout: 300_000,
    maxBuffer: 2 ** 26,
  });
  assert.doesNotMatch(stdout + stderr, /\bwarn(ing)?s?\b/i);
  return stdout;
}

/** The environment without what npm and the test runner hand down. Node warns if it has NO_COLOR and FORCE_COLOR. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const rest = environmentWithout(/^(npm_|NODE_TEST_CONTEXT$|NODE_OPTIONS$|NO_COLOR$)/);
  return { ...rest, FORCE_COLOR: '0', CI: '1', NODE_ENV: undefined };
}
