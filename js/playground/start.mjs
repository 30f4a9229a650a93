// `npm run playground` serves the playground, and `npm run build:playground` makes static files of it, in target/playground.
// Both install and build what is missing.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makeReady, root } from '../examples/demo/ready.mjs';

makeReady('playground');
const [command = 'dev', ...rest] = process.argv.slice(2);
const vite = join(root, 'node_modules/vite/bin/vite.js');
const args = [vite, command, join(root, 'js/playground'), ...rest];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
