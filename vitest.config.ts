import { defineConfig } from 'vitest/config';
import react from '@vitejs/plugin-react';

export default defineConfig({
  test: {
    reporters: process.env.UNIT_REPORT ? ['default', 'json'] : ['default'],
    ...(process.env.UNIT_REPORT ? { outputFile: { json: process.env.UNIT_REPORT } } : {}),
    projects: [
      {
        test: {
          name: 'crypto-core',
          environment: 'node',
          include: ['crypto-core/test/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'workers',
          environment: 'node',
          include: ['tests/unit/workers/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      {
        plugins: [react()],
        test: {
          name: 'src',
          // jsdom gives Uint8Array another realm, which libsodium refuses.
          environment: 'happy-dom',
          include: ['tests/unit/src/**/*.test.{ts,tsx}'],
          setupFiles: ['tests/unit/src/setup.ts'],
          css: { modules: { classNameStrategy: 'non-scoped' } },
        },
      },
      {
        test: {
          name: 'relay',
          environment: 'node',
          include: ['relay/test/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'integration',
          environment: 'node',
          include: ['tests/integration/**/*.test.ts', 'tests/doors/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
