import { join } from 'node:path';
import { build } from 'vite';
import { root } from '../../toolchain/environment.mjs';

let built: Promise<string> | undefined;

/** Builds the playground once, as `npm run build:playground` does, and returns the folder of its files. */
export function builtPlayground(): Promise<string> {
  const outDir = join(root, 'target/playground-tested', String(process.pid));
  built ??= build({
    root: join(root, 'examples/playground'),
    build: { outDir },
    logLevel: 'warn',
  }).then(() => outDir);
  return built;
}
