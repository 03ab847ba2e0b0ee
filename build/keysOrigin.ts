import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, createServer, type InlineConfig, type Plugin, type ResolvedConfig } from 'vite';
import { fromSource } from './fromSource.ts';
import { minifiedWorker } from './minified.ts';
import { precompress } from './precompress.ts';
import { serviceWorker } from './serviceWorker.ts';
import { sodiumCalls } from './sodiumCalls.ts';
import { wasmAsText } from './wasmAsText.ts';

const root = path.resolve(import.meta.dirname, '../workers/frame');
/** The pages by their address: the frame, and what the person opens in a tab. */
const pages = { '/keys': 'keys.html', '/storage': 'storage.html' };

/**
 * Builds what the origin of the keys serves, beside the app: the frame, the worker that holds the keys, and a service
 * worker that keeps both. While developing, a second server has them at the port after the app's.
 */
export function keysOrigin(): Plugin {
  let app: ResolvedConfig;

  return {
    name: 'keys-origin',
    configResolved(resolved) {
      app = resolved;
    },
    closeBundle: {
      order: 'post',
      sequential: true,
      async handler() {
        if (this.environment.mode !== 'build') return;
        const outDir = path.resolve(app.root, app.build.outDir, '../keys');
        await build({
          ...configuration,
          worker: {
            ...configuration.worker,
            plugins: () => [
              sodiumCalls(),
              wasmAsText(),
              minifiedWorker(),
              listContents(`${outDir}-contents.json`),
            ],
          },
          plugins: [inlineScripts(), precompress(), serviceWorker('src/serviceWorker/keysWorker.ts')],
          build: {
            outDir,
            emptyOutDir: true,
            target: app.build.target,
            assetsInlineLimit: 0,
            modulePreload: { polyfill: false },
            rolldownOptions: { input: Object.values(pages).map((page) => path.join(root, page)) },
          },
        });
      },
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const page = Object.entries(pages).find(([address]) => address === request.url)?.[1];
        if (page === undefined) return next();
        const { hostname } = new URL(`http://${request.headers.host}`);
        response.writeHead(302, { location: `http://${hostname}:${portOf(server) + 1}/${page}` }).end();
      });
      server.httpServer?.once('listening', () => {
        const { host = 'localhost' } = server.config.server;
        const beside = { host, port: portOf(server) + 1, strictPort: true };
        void createServer({ ...configuration, server: beside }).then((keys) => keys.listen());
      });
    },
  };

  function portOf({ httpServer }: { httpServer: { address(): unknown } | null }): number {
    const address = httpServer?.address();
    return typeof address === 'object' && address !== null && 'port' in address ? Number(address.port) : 0;
  }
}

/**
 * Puts the one script of each page into it: the worker starts sooner by a request, and the page's policy admits this script
 * alone, by its hash (relay/src/http/static.ts).
 */
function inlineScripts(): Plugin {
  return {
    name: 'inline-scripts',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const scripts = Object.values(bundle).filter(({ type }) => type === 'chunk');
      if (scripts.length > Object.keys(pages).length)
        throw new Error('the pages of the keys have to be of one script each');
      for (const file of Object.values(pages)) {
        const page = bundle[file];
        const [, name = ''] =
          page?.type === 'asset'
            ? (/<script type="module" crossorigin src="\/([^"]+)"><\/script>/.exec(String(page.source)) ?? [])
            : [];
        const script = bundle[name];
        if (page?.type !== 'asset' || script?.type !== 'chunk' || script.code.includes('</script'))
          throw new Error(`the script of ${file} can't be put into it`);
        const element = `<script type="module" crossorigin src="/${name}"></script>`;
        page.source = String(page.source).replace(
          element,
          () => `<script type="module">${script.code}</script>`,
        );
        delete bundle[name];
      }
    },
  };
}

/** Writes how much of the worker's script is whose, for the size check and for who reviews it. */
function listContents(file: string): Plugin {
  return {
    name: 'list-contents',
    async generateBundle(_options, bundle) {
      const sizes = new Map<string, number>();
      for (const output of Object.values(bundle)) {
        if (output.type !== 'chunk') continue;
        for (const [id, { renderedLength }] of Object.entries(output.modules)) {
          const part = partOf(id);
          sizes.set(part, (sizes.get(part) ?? 0) + renderedLength);
        }
      }
      const largestFirst = [...sizes].sort(([, one], [, other]) => other - one);
      await writeFile(file, `${JSON.stringify(Object.fromEntries(largestFirst), null, 2)}\n`);
    },
  };
}

/** The package, or the folder of ours, that a module is of. */
function partOf(id: string): string {
  const [, ofPackage] = /\/node_modules\/(?:@[^/]+\/)?([^/]+)\/(?!.*\/node_modules\/)/.exec(id) ?? [];
  if (ofPackage !== undefined) return ofPackage.replace(/^libsodium.*/, 'libsodium');
  const [, ofOurs] = /\/(crypto-core|workers)\//.exec(id) ?? [];
  return ofOurs ?? 'the builder';
}

const configuration = {
  ...fromSource,
  configFile: false,
  root,
  publicDir: false,
  logLevel: 'warn',
  worker: {
    format: 'es',
    rolldownOptions: {
      output: {
        // The relay serves the worker's script under a policy of its own and knows it by this name.
        entryFileNames: 'assets/crypto.worker-[hash].js',
        // See minifiedWorker.
        minify: false,
      },
    },
  },
} as const satisfies InlineConfig;
