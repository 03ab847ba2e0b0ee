// Type-checks each room by its own tsconfig: the libraries a room may see are part of its walls.
import { spawnSync } from 'node:child_process';

const rooms = [
  'crypto-core',
  'crypto-core/tsconfig.test.json',
  'workers',
  'src',
  'src/serviceWorker',
  'relay',
  'tests',
];
const failed = rooms.filter((room) => {
  const { status } = spawnSync('tsc', ['-p', room, '--noEmit'], { stdio: 'inherit', shell: false });
  return status !== 0;
});
if (failed.length > 0) {
  process.stderr.write(`type errors in: ${failed.join(', ')}\n`);
  process.exit(1);
}
