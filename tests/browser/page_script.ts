// A browser test is one file. Its export `page` runs in the page, and returns what the test calls there by name. Node's
// runner runs the rest.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions, type Loader } from 'esbuild';
import { root } from '../toolchain/environment.mjs';

/** What no page can load. */
const OF_NODE = /^(node:|esbuild$|selenium-webdriver)/;

/** The calls that register tests. */
const REGISTER = /^(describe|it|before|after)\(/gm;

/**
 * Bundles the part of a test for the page: the bundler drops the calls that register tests, and all that only they use.
 *
 * @param url of the test file: `import.meta.url`
 * @param options of esbuild; `packages: 'external'` if the page has an import map
 */
export async function pageScript(url: string, options: BuildOptions = {}): Promise<string> {
  const file = fileURLToPath(url);
  const { outputFiles } = await build({
    stdin: {
      contents: `import { page } from ${JSON.stringify(file)};
        import { exposeScenarios } from './tests/browser/expose_scenarios.js';
        exposeScenarios(page());`,
      resolveDir: root,
    },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
    ...options,
    plugins: [
      ...(options.plugins ?? []),
      {
        name: 'part for the page',
        setup(build) {
          build.onLoad({ filter: /\.test\.tsx?$/ }, ({ path }) => ({
            contents: readFileSync(path, 'utf8').replace(REGISTER, '/* @__PURE__ */ $1('),
            loader: /tsx?$/.exec(path)?.[0] as Loader,
          }));
          build.onResolve({ filter: /./ }, async ({ path, pluginData, ...options }) => {
            if (OF_NODE.test(path)) return { path, external: true, sideEffects: false };
            if (pluginData === 'resolved') return undefined;
            const resolved = await build.resolve(path, { ...options, pluginData: 'resolved' });
            return { ...resolved, sideEffects: false };
          });
        },
      },
    ],
    write: false,
  });
  const { text = '' } = outputFiles[0] ?? {};
  const imports = [...text.matchAll(/^import .*"(.+)";$/gm)].map(([, name = '']) => name);
  const needed = imports.filter((name) => OF_NODE.test(name));
  if (needed.length > 0) throw new Error(`the page of ${file} would need ${needed.join(', ')}`);
  return text;
}
