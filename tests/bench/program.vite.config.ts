import { defineConfig } from 'vite';
import { compileCatalogues } from '../../build/catalogues.ts';
import { fromSource } from '../../build/fromSource.ts';

/** For programs of Node that use the product's code: which one, and where it goes, product.mjs says. */
export default defineConfig({
  logLevel: 'error',
  plugins: [compileCatalogues()],
  build: { emptyOutDir: false },
  resolve: fromSource.resolve,
  ssr: { ...fromSource.ssr, noExternal: ['@sinetti/crypto-core', '@sinetti/relay'] },
});
