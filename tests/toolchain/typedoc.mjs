// Builds the reference of the TypeScript API, or with `--emit none` only checks it. TypeDoc is installed below target/.
//
//   node tests/toolchain/typedoc.mjs [OPTION…]

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './environment.mjs';
import { installPackages } from './npm_packages.mjs';

const folder = installPackages('typedoc', { typedoc: '0.28.20', typescript: '6.0.3' });
const program = join(folder, 'node_modules/typedoc/bin/typedoc');
const args = [program, ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
