import path from 'node:path';
import { build, createServer, type InlineConfig, type Plugin, type ResolvedConfig } from 'vite';
import { precompress } from './precompress.ts';
import { serviceWorker } from './serviceWorker.ts';

const root = path.resolve(import.meta.dirname, '../workers/frame');
const framePath = '/keys';

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
        await build({
          ...configuration,
          plugins: [precompress(), serviceWorker('src/serviceWorker/keysWorker.ts')],
          build: {
            outDir: path.resolve(app.root, app.build.outDir, '../keys'),
            emptyOutDir: true,
            target: app.build.target,
            assetsInlineLimit: 0,
            modulePreload: { polyfill: false },
            rolldownOptions: { input: path.join(root, 'keys.html') },
          },
        });
      },
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (request.url !== framePath) return next();
        const { hostname } = new URL(`http://${request.headers.host}`);
        response.writeHead(302, { location: `http://${hostname}:${portOf(server) + 1}/keys.html` }).end();
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

const configuration: InlineConfig = {
  configFile: false,
  root,
  publicDir: false,
  logLevel: 'warn',
  worker: {
    format: 'es',
    // The relay serves the worker's script under a policy of its own and knows it by this name.
    rolldownOptions: { output: { entryFileNames: 'assets/crypto.worker-[hash].js' } },
  },
};
