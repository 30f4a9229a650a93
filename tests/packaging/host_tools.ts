import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { installPackages } from '../toolchain/npm_packages.mjs';
import { run } from './installed.js';

/** Tools from npm: installs what is not there yet, and resolves from there. */
export function requireHostTools(): NodeJS.Require {
  return createRequire(join(hostTools(), 'package.json'));
}

interface TypeProblems {
  readonly createPackageFromTarballData: (data: Uint8Array) => unknown;
  readonly checkPackage: (
    data: unknown,
    options: object,
  ) => Promise<{ problems?: { kind: string; resolutionKind?: string }[] }>;
}

/**
 * Returns what `@arethetypeswrong/core` finds in a tarball of ES modules: neither of the two other resolutions loads them.
 */
export async function typeProblems(data: Uint8Array, excludeEntrypoints: readonly string[]) {
  const path = join(hostTools(), 'node_modules/@arethetypeswrong/core/dist/index.js');
  const { checkPackage, createPackageFromTarballData } = (await import(path)) as TypeProblems;
  const given = createPackageFromTarballData(data);
  const { problems = [] } = await checkPackage(given, { excludeEntrypoints });
  const others = ['node10', 'node16-cjs'];
  return problems.filter(({ resolutionKind = '' }) => !others.includes(resolutionKind));
}

function hostTools(): string {
  return installPackages('host_tools');
}

/** Runs a program in Deno with the packages of node_modules, without downloads, and returns its output. */
export function runInDeno(folder: string, file: string, permissions: readonly string[]): string {
  const deno = join(dirname(requireHostTools().resolve('deno/package.json')), 'bin.cjs');
  const allowed = permissions.map((what) => `--allow-${what}`);
  const options = ['--quiet', '--no-remote', '--node-modules-dir=manual', ...allowed];
  return run(process.execPath, [deno, 'run', ...options, file], folder);
}

/** The path of Bun's binary. */
export function bunBinary(): string {
  return join(dirname(requireHostTools().resolve('bun/package.json')), 'bin/bun.exe');
}

/** Runs a program in Bun with the packages of node_modules, and returns its output. */
export function runInBun(folder: string, file: string): string {
  return run(bunBinary(), ['run', '--no-install', file], folder);
}
