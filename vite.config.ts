import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const relay = 'http://localhost:8080';

export default defineConfig({
  plugins: [react()],
  build: {
    // What the styles (light-dark) and the keys (Web Locks, non-extractable keys in IndexedDB) need anyway.
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    // The page's policy allows scripts, styles, fonts from files only: nothing may become a data: URL or inline code.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    rolldownOptions: {
      output: {
        // What changes only with a dependency keeps its name, and its place in caches, across releases.
        codeSplitting: {
          groups: [
            {
              name: 'react',
              test: /node_modules\/(?:react|react-dom|react-router|react-router-dom|scheduler)\//,
            },
            { name: 'mqtt', test: /node_modules\/(?:mqtt|mqtt-packet)\// },
          ],
        },
      },
    },
  },
  worker: {
    format: 'es',
    rolldownOptions: {
      // The relay serves the worker's script under a policy of its own and knows it by this name.
      output: { entryFileNames: 'assets/crypto.worker-[hash].js' },
    },
  },
  server: {
    port: 5173,
    proxy: {
      '/api': relay,
      '/mqtt': { target: relay, ws: true },
      '/ws': { target: relay, ws: true },
    },
  },
});
