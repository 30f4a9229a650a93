// An example that is a whole program, as a user has it: in a folder of its own, with the packed package.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import {
  environmentWithout,
  install,
  NAME,
  OF_NPM,
  packageFolder,
  root,
  run,
} from '../installed.js';

const EXAMPLES = join(root, 'examples');

/** The examples that have a package.json of their own. */
export const EXAMPLE_NAMES = readdirSync(EXAMPLES).filter(
  (name) => extname(name) === '' && readdirSync(join(EXAMPLES, name)).includes('package.json'),
);

/** What building and starting an example leaves in its folder. */
const MADE =
  /(?:^|[\\/])(?:node_modules|dist|\.next)[\\/]|(?:^|[\\/])(?:next-env\.d\.ts|package-lock\.json)$|\.tgz$|\.db\b/;

/** The files of an example, by their paths in its folder. */
export function filesOfExample(name: string): string[] {
  const folder = join(EXAMPLES, name);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => !MADE.test(file));
}

/** Copies an example to a folder, and gives it the packed package. */
export function copyExample(name: string, folder = join(root, 'target/examples', name)): string {
  rmSync(folder, { recursive: true, force: true });
  for (const file of filesOfExample(name)) cpSync(join(EXAMPLES, name, file), join(folder, file));
  // Below target/, other packages are found in the repository's node_modules.
  cpSync(install().folder, join(folder, 'node_modules', NAME), { recursive: true });
  return folder;
}

/** Gives an example packages that another folder has. */
export function linkPackages(folder: string, from: string, names: readonly string[]): void {
  for (const name of names) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(from, 'node_modules', name), place);
  }
}

interface Manifest {
  readonly version: string;
  readonly dependencies: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Fails if an example names another version than is installed, or imports a package that it does not name. */
export function assertManifest(name: string, folder: string): void {
  const { dependencies, devDependencies } = manifestOf(folder);
  const all = { ...dependencies, ...devDependencies };
  for (const [dependency, range] of Object.entries(all)) {
    if (dependency === NAME) assert.equal(range, `file:${basename(install().archive)}`);
    else {
      const { version } = manifestOf(installedAbove(folder, dependency));
      assert.equal(range, `^${version}`, dependency);
    }
  }
  const imported = codeOf(name)
    .filter((file) => extname(file) !== '.py')
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(IMPORTED)])
    .map(([, specifier = '']) => specifier);
  assert.deepEqual(
    imported.filter((specifier) => !Object.hasOwn(all, specifier)),
    [],
  );
}

/** The folder of a package, as Node finds it. */
function installedAbove(folder: string, name: string): string {
  const found = join(folder, 'node_modules', name);
  if (existsSync(found)) return found;
  assert.notEqual(folder, dirname(folder), `${name} is not installed`);
  return installedAbove(dirname(folder), name);
}

/** The package of an import, except for those of Node. */
const IMPORTED = /\b(?:from |import\()'((?!node:)(?:@[\w-]+\/)?[a-z][\w-]*)/g;

const CODE = ['.ts', '.tsx', '.js', '.html', '.py'];

/** The paths of the files that a reader reads. */
function codeOf(name: string): string[] {
  return filesOfExample(name)
    .filter((file) => CODE.includes(extname(file)))
    .map((file) => join(EXAMPLES, name, file));
}

export function linesOfCode(name: string): number {
  return codeOf(name)
    .map((file) => readFileSync(file, 'utf8').trimEnd().split('\n').length)
    .reduce((sum, lines) => sum + lines, 0);
}

/** Builds an example with Vite, as its script does. Fails if Vite warns. Returns the folder of the page. */
export function buildWithVite(folder: string, env: NodeJS.ProcessEnv = {}): string {
  const vite = join(packageFolder('vite'), 'bin/vite.js');
  const clean = { ...environmentWithout(OF_NPM), ...env };
  const options = { cwd: folder, env: clean, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [vite, 'build'], options);
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '', stdout);
  return join(folder, 'dist');
}

/** Checks the example's types by its own tsconfig.json. */
export function checkTypes(folder: string): void {
  const tsc = join(packageFolder('typescript'), 'bin/tsc');
  run(process.execPath, [tsc, '-p', folder, '--noEmit'], folder);
}
