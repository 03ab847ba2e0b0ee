import type { BuildEnvironmentOptions } from 'vite';

/** Scripts as small as they get: Terser's are 1 to 2 % smaller than those of Vite's own minifier, whose result also runs. */
export const minified = {
  minify: 'terser',
  terserOptions: { ecma: 2020, module: true, compress: { passes: 3, keep_fargs: false } },
} as const satisfies BuildEnvironmentOptions;
