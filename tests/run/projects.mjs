/** The projects of vitest.config.ts and playwright.config.ts that `npm test` and `npm run test:all` run. */
export const runs = {
  quick: {
    unit: [
      'crypto-core',
      'workers',
      'workers-mocks',
      'src',
      'src-mocks',
      'relay',
      'relay-mocks',
      'verify',
      'integration',
    ],
    e2e: ['stories'],
  },
  long: { unit: ['long', 'relay-postgres'], e2e: ['long', 'attacks', 'firefox'] },
};

/** Arguments that name them. */
export const ofVitest = ({ unit }) => unit.flatMap((name) => ['--project', name]);
export const ofPlaywright = ({ e2e }) => e2e.map((name) => `--project=${name}`);
