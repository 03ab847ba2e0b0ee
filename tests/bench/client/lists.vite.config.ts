import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compileCatalogues } from '../../../build/catalogues.ts';
import { compileEmojis } from '../../../build/emojis.ts';

/** The page of the stories about long lists (tests/e2e/longLists.spec.ts). */
export default defineConfig({
  root: path.join(import.meta.dirname, '../../e2e/support/longLists'),
  logLevel: 'error',
  plugins: [react(), compileCatalogues(), compileEmojis()],
});
