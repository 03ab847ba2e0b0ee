// npm run test:crash: the crash tests at full length. CRASHES and CRASH_SEED may be set; a run prints its seed.
import { spawnSync } from 'node:child_process';

const tests = [
  ['long', 'relay/test/crash/crash.test.ts', process.env.CRASHES ?? '50'],
  ['relay-postgres', 'relay/test/postgres/crash.test.ts', process.env.CRASHES ?? '20'],
];
const failed = tests.filter(([project, file, crashes]) => {
  const options = ['run', '--project', project, '--reporter', 'verbose', file];
  const { status } = spawnSync('vitest', options, {
    stdio: 'inherit',
    env: { ...process.env, CRASHES: crashes },
  });
  return status !== 0;
});
if (failed.length > 0) process.exit(1);
