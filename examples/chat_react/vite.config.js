import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // In kB. The chunk holds the package's wasm, and Vite warns at 500.
  build: { chunkSizeWarningLimit: 700 },
});
