import { defineConfig } from 'vite';

// In kB. The chunk holds the package's wasm, and Vite warns at 500.
export default defineConfig({ build: { chunkSizeWarningLimit: 700 } });
