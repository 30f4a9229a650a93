import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { defineConfig, type Plugin } from 'vite';
import manifest from '../../package.json' with { type: 'json' };
import { frameworkRepair } from './framework/framework_repair.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The package by its own name, as built in js/dist/. */
const alias = Object.entries(manifest.exports).map(([path, target]) => ({
  find: new RegExp(`^${manifest.name}${path.slice(1)}$`),
  replacement: root + (typeof target === 'string' ? target : target.default),
}));

const FRAMEWORK = '\0google-adk';

/** `@google/adk` as one module. Its browser build of 2.0.0 needs repairs; see framework_repair.ts. */
const framework: Plugin = {
  name: 'framework',
  enforce: 'pre',
  resolveId: (source) => (source === '@google/adk' ? FRAMEWORK : undefined),
  async load(id) {
    if (id !== FRAMEWORK) return undefined;
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: ['@google/adk'],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      define: { 'process.env': '{}' },
      plugins: [frameworkRepair],
      write: false,
      logLevel: 'silent',
    });
    return outputFiles[0]?.text;
  },
};

/** Writes the service worker with the names of all files but those of the framework. */
const serviceWorker: Plugin = {
  name: 'service-worker',
  apply: 'build',
  enforce: 'post',
  async generateBundle(_, bundle) {
    const files = Object.values(bundle)
      .filter((file) => file.type === 'asset' || !file.moduleIds.includes(FRAMEWORK))
      .map(({ fileName }) => `./${fileName}`)
      .filter((file) => file !== './index.html');
    const text = readFileSync(new URL('service_worker.js', import.meta.url), 'utf8');
    const whole = `const FILES = ${JSON.stringify(['./', './icon.svg', ...files])};\n${text}`;
    const { code: source } = await transform(whole, { minify: true });
    this.emitFile({ type: 'asset', fileName: 'service_worker.js', source });
  },
};

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './', // any folder of any host
  plugins: [framework, serviceWorker],
  resolve: { alias },
  optimizeDeps: { exclude: ['@google/adk'] },
  build: {
    outDir: '../../target/playground',
    emptyOutDir: true,
    // The framework alone is larger than Vite likes. It is loaded only if it is chosen.
    chunkSizeWarningLimit: 8192,
    target: 'es2022',
    // Browsers that need the polyfill only load a little later without it.
    modulePreload: { polyfill: false },
  },
});
