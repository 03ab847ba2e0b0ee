import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { compileCatalogues } from './build/catalogues.ts';
import { chunkGroups } from './build/chunkGroups.ts';
import { compileEmojis } from './build/emojis.ts';
import { fromSource } from './build/fromSource.ts';
import { integrity } from './build/integrity.ts';
import { keysOrigin } from './build/keysOrigin.ts';
import { minified } from './build/minified.ts';
import { mqttFromSource } from './build/mqttFromSource.ts';
import { precompress } from './build/precompress.ts';
import { serviceWorker } from './build/serviceWorker.ts';

const relay = 'http://localhost:8080';

/** Asks for the typeface of Latin letters with the page, instead of once its styles have been read. */
function preloadTypeface(): Plugin {
  return {
    name: 'preload-typeface',
    apply: 'build',
    transformIndexHtml(_html, { bundle }) {
      const file = Object.keys(bundle ?? {}).find((name) =>
        /inter-latin-opsz-normal-[\w-]+\.woff2$/.test(name),
      );
      if (file === undefined) throw new Error('the typeface of Latin letters is not in the build');
      const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${file}`, crossorigin: '' };
      return [{ tag: 'link', attrs, injectTo: 'head' }];
    },
  };
}

export default defineConfig({
  ...fromSource,
  plugins: [
    react(),
    compileCatalogues(),
    compileEmojis(),
    mqttFromSource(),
    preloadTypeface(),
    integrity(),
    precompress(),
    serviceWorker('src/serviceWorker/worker.ts'),
    keysOrigin(),
  ],
  css: {
    // PostCSS copies what a class composes into each file that composes it.
    transformer: 'lightningcss',
  },
  build: {
    ...minified,
    outDir: 'dist/app',
    emptyOutDir: true,
    // The styles (light-dark) and the keys (Web Locks, non-extractable keys in IndexedDB) need these browsers anyway.
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    // The page's policy allows scripts, styles, fonts from files only: nothing may become a data: URL or inline code.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: chunkGroups },
      },
    },
  },
  server: {
    port: 5173,
    proxy: {
      '/api': relay,
      '/mqtt': { target: relay, ws: true },
      '/ws': { target: relay, ws: true },
      '/operator.json': relay,
      '/manifest.webmanifest': relay,
    },
  },
});
