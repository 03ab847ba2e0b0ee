import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { compileCatalogues } from './build/catalogues.ts';
import { compileEmojis } from './build/emojis.ts';
import { fromSource } from './build/fromSource.ts';
import { missingServers } from './relay/test/servers/binaries.mjs';
import { inCI } from './tests/run/inCI.mjs';
import { VitestReport } from './tests/run/vitestReport.ts';

const report = process.env.UNIT_REPORT;
// In CI what needs a server runs without one too, and fails.
const hasServers = inCI || missingServers().length === 0;

/** Kills under load, the package in each host, groups in random order, mutated messages, the simulated world: minutes, for `npm run test:all`. */
const long = [
  'relay/test/crash/*.test.ts',
  'tests/package/*.test.ts',
  'tests/simulation/simulation.test.ts',
  'tests/unit/workers/groupRaces.test.ts',
  'tests/unit/workers/mutatedMessages.test.ts',
];

/** Tests of what only a relay on PostgreSQL does, or one with Redis beside it. */
const onServers = ['cluster', 'engines', 'plans', 'postgres', 'redis'].map(
  (folder) => `relay/test/${folder}/**`,
);

/** Test files that put something in the place of a module: files that share modules with them would get it too. */
function mocking(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => /\.test\.tsx?$/.test(file) && readFileSync(file, 'utf8').includes('vi.mock('));
}

/**
 * Gives a test that waits for sockets, disks and servers of its own a second try in CI, on a machine shared with others,
 * and names it at the end. Cryptography and the worker's rules answer the same each time, so they get one.
 */
const retry = inCI ? 1 : 0;

/** Milliseconds after which a test is taken to hang, on the busiest machine. */
const patience = { testTimeout: 180_000, hookTimeout: 180_000 };

/** Files that share their modules take half the time. What one stubs is put back for the next. */
const sharing = { isolate: false, unstubEnvs: true, unstubGlobals: true };

const screens = {
  ...patience,
  retry,
  // jsdom gives Uint8Array another realm, which libsodium refuses.
  environment: 'happy-dom' as const,
  setupFiles: ['tests/unit/src/setup.ts'],
  // Node 25 and later have a localStorage of their own, which would stand before the one of happy-dom.
  execArgv: Number(process.versions.node.split('.')[0]) >= 25 ? ['--no-experimental-webstorage'] : [],
  css: { modules: { classNameStrategy: 'non-scoped' as const } },
};
const screenPlugins = [react(), compileCatalogues(), compileEmojis()];

const withRelay = {
  ...patience,
  retry,
  globalSetup: ['relay/test/thread/globalSetup.ts'],
  setupFiles: ['relay/test/thread/use.ts'],
};

export default defineConfig({
  test: {
    // Tests of a whole relay wait for disks, sockets and timers two thirds of their time: more workers than cores keep these busy.
    maxWorkers: availableParallelism() + 2,
    reporters: ['default', ...(report === undefined ? [] : [new VitestReport(report)])],
    projects: [
      {
        test: { ...patience, ...sharing, name: 'crypto-core', include: ['crypto-core/test/**/*.test.ts'] },
      },
      {
        ...fromSource,
        test: {
          ...patience,
          ...sharing,
          name: 'workers',
          include: ['tests/unit/workers/**/*.test.ts'],
          exclude: [...long, ...mocking('tests/unit/workers')],
        },
      },
      { ...fromSource, test: { ...patience, name: 'workers-mocks', include: mocking('tests/unit/workers') } },
      {
        plugins: screenPlugins,
        test: {
          ...screens,
          ...sharing,
          name: 'src',
          include: ['tests/unit/src/**/*.test.{ts,tsx}'],
          exclude: mocking('tests/unit/src'),
        },
      },
      {
        plugins: screenPlugins,
        test: { ...screens, name: 'src-mocks', include: mocking('tests/unit/src') },
      },
      {
        test: {
          ...withRelay,
          ...sharing,
          name: 'relay',
          include: ['relay/test/**/*.test.ts'],
          exclude: [...long, ...onServers, ...mocking('relay/test')],
        },
      },
      { test: { ...withRelay, name: 'relay-mocks', include: mocking('relay/test') } },
      { test: { ...withRelay, ...sharing, name: 'verify', include: ['verify/test/**/*.test.ts'] } },
      {
        ...fromSource,
        plugins: [compileCatalogues()],
        test: {
          ...withRelay,
          ...sharing,
          name: 'integration',
          include: [
            'tests/integration/**/*.test.ts',
            'tests/docs/**/*.test.ts',
            'tests/doors/**/*.test.ts',
            'tests/run/**/*.test.ts',
            'tests/simulation/*.test.ts',
            'tests/support/**/*.test.ts',
          ],
          exclude: long,
        },
      },
      {
        ...fromSource,
        plugins: [compileCatalogues()],
        test: { ...withRelay, name: 'long', include: long },
      },
      { test: { ...withRelay, name: 'engines', include: ['relay/test/engines/**/*.test.ts'] } },
      {
        test: {
          ...withRelay,
          ...sharing,
          name: 'relay-postgres',
          // Everything that reaches a database: what talks to a whole relay, and what is about PostgreSQL and Redis.
          include: hasServers
            ? [
                'relay/test/{auth,authorisation,cluster,fuzz,http,operator,plans,postgres,redis}/**/*.test.ts',
                'relay/test/*/{groups,relay}.test.ts',
              ]
            : [],
          // The same on any database.
          exclude: [
            'relay/test/http/{clientAddress,headers,openapi,web}.test.ts',
            'relay/test/fuzz/presence.test.ts',
            ...mocking('relay/test'),
          ],
          globalSetup: [...withRelay.globalSetup, 'relay/test/servers/globalSetup.ts'],
          setupFiles: [...withRelay.setupFiles, 'relay/test/servers/usePostgres.ts'],
        },
      },
    ],
  },
});
