// npm run bench:plans: how both databases read messages when there are ten million. MESSAGES may be set.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(
  'vitest',
  ['run', '--project', 'relay-postgres', '--reporter', 'verbose', 'relay/test/plans/plans.test.ts'],
  { stdio: 'inherit', env: { ...process.env, PLAN_MESSAGES: process.env.MESSAGES ?? '10000000' } },
);
process.exitCode = status ?? 1;
