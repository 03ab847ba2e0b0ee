// Builds and runs penPal.ts.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startLines } from '../lines.mjs';
import { bundle } from '../product.mjs';

/** @param relayUrl where it writes */
export async function startPal(relayUrl) {
  const folder = await bundle(new URL('penPal.ts', import.meta.url));
  const pal = startLines(join(folder, 'penPal.js'), relayUrl);
  return {
    ...pal,
    async stop() {
      await pal.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
