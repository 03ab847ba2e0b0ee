import { inject } from 'vitest';

// For startTestRelay, which also runs where there is no vitest.
process.env.TEST_DATABASE_URL = inject('postgresUrl');
