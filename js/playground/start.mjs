// `npm run playground` serves the playground, and `npm run build:playground` makes static files of it, in target/playground.
// Both install and build what is missing.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeReady, root } from '../examples/demo/ready.mjs';

makeReady('playground');
const [node, , command = 'dev', ...rest] = process.argv;
const vite = join(root, 'node_modules/vite/bin/vite.js');
// Vite runs in this process, so that it ends when this process is ended.
process.argv = [node, vite, command, join(root, 'js/playground'), ...rest];
await import(pathToFileURL(vite).href);
