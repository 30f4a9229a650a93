// Checks the types of js/ and tests/ with TypeScript 7, which is several times as fast as the version that ESLint and the
// build need. It is installed below target/.
//
//   node tests/toolchain/tsc.mjs

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './environment.mjs';
import { installPackages } from './npm_packages.mjs';

const folder = installPackages('typescript', { typescript: '7.0.2' });
const args = [join(folder, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', 'tests'];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
