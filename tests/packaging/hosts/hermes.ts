// Hermes, the engine of React Native.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { bundleWithEsbuild } from '../bundles.js';
import { run, write } from '../installed.js';
import type { Host } from './host.js';

async function hermes(): Promise<string> {
  const main = `
    import { InMemorySessionService } from 'adk-session-wasm';
    print(typeof InMemorySessionService);`;
  const folder = write('hermes', { 'main.js': main });
  // Metro resolves by the same condition. React Native's Babel preset lowers async generators.
  const out = await bundleWithEsbuild(folder, {
    conditions: ['react-native'],
    format: 'iife',
    minify: false,
    supported: { 'async-generator': false, 'for-await': false },
  });
  // The compiler of today's React Native. npm has no engine that runs programs but that of 2022.
  const packages = join(installPackages('hermes'), 'node_modules');
  const bundle = join(out, 'main.js');
  const compiler = join(packages, 'hermes-compiler/hermesc/linux64-bin/hermesc');
  run(compiler, ['-w', '-emit-binary', '-out', join(out, 'main.hbc'), bundle], folder);
  const program = join(out, 'caught.js');
  writeFileSync(program, forOldEngine(readFileSync(bundle, 'utf8')));
  const printed = run(
    join(packages, 'hermes-engine-cli/linux64-bin/hermes'),
    ['-w', program],
    folder,
  );
  const { code, message } = JSON.parse(printed) as Record<string, string>;
  assert.equal(code, 'wasm_unavailable');
  assert.match(message ?? '', /needs WebAssembly, which Hermes/);
  return 'compiled; the import fails with wasm_unavailable';
}

/** The engine of 2022 has neither classes nor Unicode properties in regular expressions. */
function forOldEngine(bundle: string): string {
  const caught = `try { ${bundle.replace(/\\p\{\w+\}/g, '\\w')} } catch ({ code, message }) {
    print(JSON.stringify({ code, message }));
  }`;
  const compilerOptions = {
    target: ts.ScriptTarget.ES5,
    downlevelIteration: true,
    ignoreDeprecations: '6.0',
  };
  return ts.transpileModule(caught, { compilerOptions }).outputText;
}

export const HERMES_HOST: Host = { name: 'Hermes of React Native', check: hermes };
