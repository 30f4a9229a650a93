import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Writes the service worker with the names of all files of the page. */
const serviceWorker = {
  name: 'service-worker',
  generateBundle(_, bundle) {
    const files = JSON.stringify(['/', ...Object.keys(bundle).map((name) => `/${name}`)]);
    const source = `const FILES = ${files};\n${readFileSync('service_worker.js', 'utf8')}`;
    this.emitFile({ type: 'asset', fileName: 'service_worker.js', source });
  },
};

export default defineConfig({
  plugins: [react(), serviceWorker],
  // In kB. The chunk holds the package's wasm, and Vite warns at 500.
  build: { chunkSizeWarningLimit: 1000 },
});
