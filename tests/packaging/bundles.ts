// Bundles of a consumer's program, and the number of wasm copies in them.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { build as esbuild, type BuildOptions } from 'esbuild';
import { build as vite, type InlineConfig } from 'vite';
import { install } from './installed.js';

/** Bundles `folder`'s main.js with esbuild, into its `out` folder. */
export async function bundleWithEsbuild(
  folder: string,
  options: BuildOptions = {},
): Promise<string> {
  const out = join(folder, 'out');
  const { warnings } = await esbuild({
    entryPoints: [join(folder, 'main.js')],
    outdir: out,
    bundle: true,
    minify: true,
    format: 'esm',
    logLevel: 'silent',
    ...options,
  });
  assert.deepEqual(warnings, []);
  return out;
}

/** Vite's settings for `folder`; what it warns of is collected. */
export function viteConfig(folder: string, warnings: string[]): InlineConfig {
  const warn = (message: string): void => {
    // On a slow machine Vite says how long its own plugins took.
    if (!message.includes('PLUGIN_TIMINGS')) warnings.push(message);
  };
  return {
    root: folder,
    configFile: false,
    cacheDir: join(folder, 'cache'),
    logLevel: 'warn', // else it writes its progress past the logger
    // The wasm is a text in one of the files, which Vite would warn of.
    build: { outDir: 'out', chunkSizeWarningLimit: 600 },
    customLogger: {
      info: () => undefined,
      warn,
      warnOnce: warn,
      error: warn,
      clearScreen: () => undefined,
      hasErrorLogged: () => false,
      hasWarned: false,
    },
  };
}

/** Builds `folder`'s index.html with Vite, into its `out` folder. */
export async function bundleWithVite(folder: string): Promise<string> {
  const warnings: string[] = [];
  await vite(viteConfig(folder, warnings));
  assert.deepEqual(warnings, []);
  return join(folder, 'out');
}

/** Copies of the wasm below a folder: as files, and within JavaScript with all and with the rules alone. */
export function wasmCopies(folder: string): { files: number; inlined: number; rules: number } {
  const files = filesBelow(folder);
  const copies = (build: Build): number =>
    files
      .filter((file) => extname(file) !== '.map')
      .map((file) => readFileSync(file, 'latin1').split(sampleOf(build)).length - 1)
      .reduce((sum, count) => sum + count, 0);
  const count = files.filter((file) => extname(file) === '.wasm').length;
  return { files: count, inlined: copies('wasm'), rules: copies('rules') };
}

type Build = 'wasm' | 'rules';

/** A part of the wasm's text, long enough that nothing else has it. */
export function sampleOf(build: Build): string {
  const text = join(install().folder, `js/dist/core/wasm/loader/${build}_text.js`);
  return readFileSync(text, 'utf8').slice(-1000, -920);
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
