// A browser test is one file, with a part for the page and a part for Node's runner.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions, type Loader, type Plugin } from 'esbuild';
import { root } from '../toolchain/environment.mjs';

/** What no page can load. */
const OF_NODE = /^(node:|esbuild$|selenium-webdriver)/;

/** The calls that register tests. */
const REGISTER = /^(describe|it|before|after)\(/gm;

/** Lets the bundler drop the calls that register tests, and all that only the part for Node uses. */
const partForPage: Plugin = {
  name: 'part for the page',
  setup(build) {
    build.onLoad({ filter: /\.test\.tsx?$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(REGISTER, '/* @__PURE__ */ $1('),
      loader: /tsx?$/.exec(path)?.[0] as Loader,
    }));
    build.onResolve({ filter: /./ }, async ({ path, pluginData, ...options }) => {
      if (OF_NODE.test(path)) return { path, external: true, sideEffects: false };
      if (pluginData === 'resolved' || options.kind === 'entry-point') return undefined;
      const resolved = await build.resolve(path, { ...options, pluginData: 'resolved' });
      return { ...resolved, sideEffects: false };
    });
  },
};

/**
 * Bundles the part of a test file for the page: its export `page`, which returns what the test calls there by name.
 *
 * @param url of the test file: `import.meta.url`
 * @param options of esbuild; `packages: 'external'` if the page has an import map
 */
export function pageScript(url: string, options: BuildOptions = {}): Promise<string> {
  const contents = `import { page } from ${JSON.stringify(fileURLToPath(url))};
    import { exposeScenarios } from './tests/browser/expose_scenarios.js';
    exposeScenarios(page());`;
  return bundleForPage({ stdin: { contents, resolveDir: root }, ...options });
}

/** Bundles a script of a page, which may import files that have both parts. */
export async function bundleForPage(options: BuildOptions): Promise<string> {
  const { metafile, outputFiles } = await build({
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
    ...options,
    plugins: [...(options.plugins ?? []), partForPage],
    metafile: true,
    write: false,
  });
  const imports = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
  const needed = imports.map(({ path }) => path).filter((path) => OF_NODE.test(path));
  if (needed.length > 0) throw new Error(`a page would load ${needed.join(', ')}`);
  return outputFiles[0]!.text;
}
