import { defineConfig } from 'vitest/config';
import react from '@vitejs/plugin-react';
import { compileCatalogues } from './src/i18n/compile.ts';
import { compileEmojis } from './src/ui/emoji/compile.ts';
import { missingServers } from './relay/test/servers/binaries.ts';
import { SecondTries } from './tests/support/secondTries.ts';

/** What runs on PostgreSQL only, or needs Redis beside it. */
const sharedRelayTests = ['cluster', 'plans', 'postgres', 'redis'].map((folder) => `relay/test/${folder}/**`);

const missing = missingServers();
// In CI the tests run all the same, and fail.
const hasServers = missing.length === 0 || process.env.CI === 'true';
if (!hasServers) {
  process.stdout.write(
    `The relay's tests on PostgreSQL and Redis are left out: ${missing.join(' and ')} is not installed.\n`,
  );
}

/**
 * Tries in CI for what waits for sockets, disks and servers of its own on a machine shared with others: a second one, told
 * of by name. Cryptography and the worker's rules answer the same each time, so they get one.
 */
const retry = process.env.CI === 'true' ? 1 : 0;

/** Milliseconds to set a scene, where relays start and devices make their keys, on a busy machine. */
const hookTimeout = 60_000;

export default defineConfig({
  test: {
    // Much of it waits for disks and sockets: a worker for each core keeps them busy.
    maxWorkers: '100%',
    reporters: ['default', new SecondTries(), ...(process.env.UNIT_REPORT ? ['json'] : [])],
    ...(process.env.UNIT_REPORT ? { outputFile: { json: process.env.UNIT_REPORT } } : {}),
    projects: [
      {
        test: {
          name: 'crypto-core',
          environment: 'node',
          include: ['crypto-core/test/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout,
        },
      },
      {
        test: {
          name: 'workers',
          environment: 'node',
          include: ['tests/unit/workers/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout,
        },
      },
      {
        plugins: [react(), compileCatalogues(), compileEmojis()],
        test: {
          name: 'src',
          retry,
          // jsdom gives Uint8Array another realm, which libsodium refuses.
          environment: 'happy-dom',
          include: ['tests/unit/src/**/*.test.{ts,tsx}'],
          setupFiles: ['tests/unit/src/setup.ts'],
          testTimeout: 60_000,
          hookTimeout,
          css: { modules: { classNameStrategy: 'non-scoped' } },
        },
      },
      {
        test: {
          name: 'relay',
          retry,
          environment: 'node',
          include: ['relay/test/**/*.test.ts'],
          exclude: sharedRelayTests,
          globalSetup: ['relay/test/thread/globalSetup.ts'],
          setupFiles: ['relay/test/thread/use.ts'],
          testTimeout: 30_000,
          hookTimeout,
        },
      },
      {
        test: {
          name: 'relay-postgres',
          retry,
          environment: 'node',
          // Everything that reaches a database: what talks to a whole relay, and what is about PostgreSQL and Redis.
          include: hasServers
            ? [
                'relay/test/{auth,authorisation,cluster,fuzz,http,plans,postgres,redis}/**/*.test.ts',
                'relay/test/*/{groups,relay}.test.ts',
              ]
            : [],
          // The same on any database.
          exclude: ['relay/test/http/{clientAddress,headers,openapi,web}.test.ts'],
          globalSetup: ['relay/test/thread/globalSetup.ts', 'relay/test/servers/globalSetup.ts'],
          setupFiles: ['relay/test/thread/use.ts', 'relay/test/servers/usePostgres.ts'],
          testTimeout: 30_000,
          hookTimeout,
        },
      },
      {
        plugins: [compileCatalogues()],
        test: {
          name: 'integration',
          retry,
          environment: 'node',
          include: ['tests/integration/**/*.test.ts', 'tests/doors/**/*.test.ts'],
          globalSetup: ['relay/test/thread/globalSetup.ts'],
          setupFiles: ['relay/test/thread/use.ts'],
          testTimeout: 120_000,
          hookTimeout,
        },
      },
    ],
  },
});
