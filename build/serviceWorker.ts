import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin, type ResolvedConfig } from 'vite';
import type { Build, BuildFile } from '../src/serviceWorker/precache.ts';
import { minified } from './minified.ts';

/** At the root, because a service worker answers for what is below its own address. */
const fileName = 'service-worker.js';
/** The manifest is filled in by the relay, and browsers keep it with an installed app. */
const notKept =
  /(?:\.br|\.map|\.webmanifest|\/robots\.txt|\/service-worker\.js|\/storage\.html|\/storage-[^/]*\.css)$/;
/** Fetched when first asked for: letters of other languages, pictures, sounds and test vectors are of no use to most. */
const onDemand =
  /\.(?:png|webp|avif|jpe?g|wav|ogg)$|\/inter-(?!latin-(?!ext))[^/]*\.woff2$|\/passwordRating-[^/]*\.js$|\/vectors-[^/]*\.json$/;

/**
 * Lists what was built with its hashes, and builds a service worker around that list.
 * @param entry path of its source from the repository's root
 */
export function serviceWorker(entry: string): Plugin {
  let config: ResolvedConfig;
  return {
    name: 'service-worker',
    apply: 'build',
    configResolved(resolved) {
      config = resolved;
    },
    closeBundle: {
      order: 'post',
      sequential: true,
      async handler() {
        const outDir = path.resolve(config.root, config.build.outDir);
        await build({
          configFile: false,
          root: config.root,
          publicDir: false,
          logLevel: 'warn',
          define: { __BUILD__: JSON.stringify(await describe(outDir)) },
          build: {
            ...minified,
            outDir,
            emptyOutDir: false,
            target: config.build.target,
            modulePreload: false,
            rolldownOptions: {
              input: path.resolve(import.meta.dirname, '..', entry),
              output: { format: 'iife', entryFileNames: fileName },
            },
          },
        });
      },
    },
  };
}

async function describe(outDir: string): Promise<Build> {
  const entries = await readdir(outDir, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(
      (entry) =>
        `/${path.relative(outDir, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/')}`,
    )
    .filter((file) => !notKept.test(file))
    .toSorted();
  const files = await Promise.all(
    paths.map(
      async (file): Promise<BuildFile> => ({
        path: file,
        sha256: sha256(await readFile(path.join(outDir, file))),
        atInstall: !onDemand.test(file),
      }),
    ),
  );
  return { version: sha256(JSON.stringify(files)).slice(0, 16), files };
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
