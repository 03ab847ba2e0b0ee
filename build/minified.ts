import { type MinifyOptions, minify as minifyByTerser } from 'terser';
import { type BuildEnvironmentOptions, minify, type Plugin } from 'vite';

const terserOptions = {
  ecma: 2020,
  module: true,
  compress: { passes: 3, keep_fargs: false },
} as const satisfies MinifyOptions;

/** Scripts as small as they get: Terser's are 1 to 2 % smaller than those of Vite's own minifier. */
export const minified = { minify: 'terser', terserOptions } as const satisfies BuildEnvironmentOptions;

/** Minifies a worker's script by both: each finds what the other leaves. */
export function minifiedWorker(): Plugin {
  return {
    name: 'minified-worker',
    async renderChunk(script, { fileName }) {
      const { code } = await minify(fileName, script, { module: true });
      const shorter = await minifyByTerser(code, { ...terserOptions, mangle: false });
      return { code: shorter.code ?? code, map: null };
    },
  };
}
