// Builds the site in target/site: the pages of docs/, and below them the references of TypeScript and Rust, and the playground.
//
//   npm run docs                           for the root of a server
//   DOCS_BASE=/folder/ npm run docs        for a folder of it

import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = join(root, 'target');

/** @param {string} command */
function run(command) {
  const [program = '', ...args] = command.split(' ');
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} failed`);
}

run('node js/build/ready.mjs');
const withPackages = 'node tests/toolchain/npm_packages.mjs';
run(`${withPackages} typedoc typedoc`);
// A folder of its own: target/doc has the references of other crates too.
run('cargo doc --package adk-session-core --no-deps --all-features --target-dir target/rustdoc');
run(`${withPackages} vitepress vitepress build docs`);
const reference = join(target, 'site', 'reference');
cpSync(join(target, 'docs'), join(reference, 'typescript'), { recursive: true });
cpSync(join(target, 'rustdoc', 'doc'), join(reference, 'rust'), { recursive: true });
run(`npx vite build examples/playground --outDir ${join(target, 'site', 'playground')}`);
cpSync(join(root, 'examples/playground/public/icon.svg'), join(target, 'site', 'icon.svg'));
cpSync(join(root, 'docs/playground.png'), join(target, 'site', 'playground.png'));

// The package as modules that a page loads without a bundler, for the example of the first screen.
await build({
  entryPoints: { browser: join(root, 'js/dist/index.js') },
  outdir: join(target, 'site', 'package'),
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  logLevel: 'warning',
});
