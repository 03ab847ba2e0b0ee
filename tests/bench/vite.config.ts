import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { fromSource } from '../../build/fromSource.ts';

/** Packages that ts-mls imports on demand for suites not measured here, and that are therefore not installed. */
const tsMlsOptionalPeers = [
  /^@noble\/(curves|hashes|post-quantum)/,
  /^@hpke\/(dhkem-x448|hybridkem-x-wing|ml-kem)$/,
];

// Without side effects, what is unused of them is dropped instead of imported.
const rolldownOptions = {
  external: tsMlsOptionalPeers,
  treeshake: { moduleSideEffects: 'no-external' },
} as const;

// The built page goes to the folder that run.mjs names; nothing is written into the repository.
export default defineConfig(({ mode }) => ({
  ...fromSource,
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  logLevel: 'error',
  build: {
    target: 'es2022',
    emptyOutDir: true,
    // A profile has to name functions.
    minify: mode !== 'profile',
    chunkSizeWarningLimit: 4096,
    rolldownOptions,
  },
  worker: { format: 'es', rolldownOptions },
}));
