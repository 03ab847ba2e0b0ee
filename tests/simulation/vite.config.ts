import { defineConfig } from 'vite';
import { compileCatalogues } from '../../build/catalogues.ts';
import { fromSource } from '../../build/fromSource.ts';

/** Loads client and relay as Vitest does, for one process that plays both. */
export default defineConfig({
  ...fromSource,
  plugins: [compileCatalogues()],
  appType: 'custom',
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false, watch: null, hmr: false },
});
