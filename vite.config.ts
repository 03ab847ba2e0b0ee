import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const relay = 'http://localhost:8080';

/** Lays a brotli file beside each script and style, so that the relay has nothing to compress while it serves. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir }) {
      if (dir === undefined) return;
      const entries = await readdir(dir, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile() && /\.(?:js|css|svg)$/.test(entry.name));
      await Promise.all(
        files.map(async (entry) => {
          const file = path.join(entry.parentPath, entry.name);
          await writeFile(`${file}.br`, await promisify(brotliCompress)(await readFile(file)));
        }),
      );
    },
  };
}

export default defineConfig({
  plugins: [react(), precompress()],
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
