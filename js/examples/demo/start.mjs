// `npm run demo`: installs and builds what is missing, then runs main.ts.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makeReady, root } from './ready.mjs';

makeReady('demo');

const main = join(root, 'js/examples/demo/main.ts');
const calledFrom = process.env.npm_lifecycle_event === 'demo' ? process.env.INIT_CWD : undefined;
const { status, error } = spawnSync(
  process.execPath,
  ['--import', 'tsx', main, ...process.argv.slice(2)],
  {
    // The folder in which Node finds `tsx`.
    cwd: root,
    env: { ...process.env, DEMO_FOLDER: calledFrom ?? process.cwd() },
    stdio: 'inherit',
  },
);
if (error) console.error(`demo: ${error.message}`);
process.exitCode = status ?? 1;
