// The package as users get it: packed by npm, and unpacked into a new project.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../toolchain/environment.mjs';
import { madeFolder } from '../toolchain/npm_packages.mjs';

export { root };
export const NAME = 'adk-session-wasm';

export interface InstalledPackage {
  /** A project that has the package and its dependencies in its `node_modules`, and nothing else in it. */
  readonly project: string;
  /** The path of the package in the project. */
  readonly folder: string;
  /** The path of the tarball. */
  readonly archive: string;
  /** The files of the tarball, sorted. */
  readonly files: readonly string[];
  /** In bytes. */
  readonly tarball: number;
}

interface PackResult {
  filename: string;
  size: number;
  files: { path: string }[];
}

let installed: InstalledPackage | undefined;

/** The project of this test file; made once, removed when the process ends. */
export function install(): InstalledPackage {
  installed ??= makeProject();
  return installed;
}

function makeProject(): InstalledPackage {
  const project = mkdtempSync(join(tmpdir(), 'packaging-'));
  // Not a hook of node:test: made within a test, it would be that test's own.
  process.once('exit', () => rmSync(project, { recursive: true, force: true }));
  const packed = packedFolder();
  const answer = JSON.parse(readFileSync(join(packed, PACK_RESULT), 'utf8')) as
    PackResult[] | Record<string, PackResult>;
  const [result] = Object.values(answer);
  if (result === undefined) throw new Error('npm packed nothing');
  const { filename, size, files } = result;

  const folder = join(project, 'node_modules', NAME);
  mkdirSync(folder, { recursive: true });
  const archive = join(project, filename);
  copyFileSync(join(packed, filename), archive);
  run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1'], project);
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  }
  const manifest = { name: 'consumer', private: true, type: 'module' };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  const paths = files.map(({ path }) => path).sort();
  return { project, folder, archive, files: paths, tarball: size };
}

const PACK_RESULT = 'pack.json';

/** Packs once for each state of the files: npm takes seconds, and every test file needs the tarball. */
function packedFolder(): string {
  const folder = join(root, 'target', `packed-${stateOfFiles()}`);
  const isMade = () => existsSync(folder);
  return madeFolder(folder, isMade, (part) => {
    // js/dist exists already, because the build is a separate step.
    const command = ['pack', '--json', '--ignore-scripts', '--pack-destination', part];
    writeFileSync(join(part, PACK_RESULT), run('npm', command, root));
  });
}

/** A hash of all that npm may pack: names, sizes and times of change. */
function stateOfFiles(): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path}\0${size}\0${mtimeMs}\0`);
  };
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.isFile()) add(join(root, entry.name));
  }
  for (const folder of ['pkg', 'js/dist', 'examples', 'docs']) {
    const names = readdirSync(join(root, folder), { encoding: 'utf8', recursive: true });
    for (const name of names.sort()) add(join(root, folder, name));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Puts the framework into the project, which is not there otherwise; once a test file. */
export function linkFramework(): void {
  const scope = join(install().project, 'node_modules', '@google');
  mkdirSync(scope);
  // By a link, so that it finds its own dependencies, and they are found to be the same.
  symlinkSync(join(root, 'node_modules', '@google', 'adk'), join(scope, 'adk'));
}

/** Puts a package into the project by a link, so that it finds its own dependencies; once a test file. */
export function linkPackage(name: string): void {
  symlinkSync(join(root, 'node_modules', name), join(install().project, 'node_modules', name));
}

/** Puts SQL and a driver into the project, which are not there otherwise. */
export function linkDatabase(): void {
  for (const name of ['kysely', 'better-sqlite3']) linkPackage(name);
}

/** Puts the libraries of views into the project, which are not there otherwise. */
export function linkViews(): void {
  for (const name of ['react', 'vue']) linkPackage(name);
}

/** The path of one of the package's dependencies. */
export function packageFolder(name: string): string {
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
}

/** Runs a command, and returns its output. Fails with the output if the command fails. */
export function run(command: string, args: string[], cwd: string, timeout = 120_000): string {
  return execFileSync(command, args, {
    cwd,
    timeout,
    env: { ...environmentWithout(OF_NPM), NO_COLOR: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** npm hands what it was called with down to the npm below it. */
export const OF_NPM = /^npm_/;

/** The environment of this process without the variables of these names. */
export function environmentWithout(names: RegExp): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !names.test(name));
  return Object.fromEntries(entries);
}

/** Writes files of a consumer to a new folder of the project. */
export function write(name: string, files: Record<string, string>): string {
  const folder = join(install().project, name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}
