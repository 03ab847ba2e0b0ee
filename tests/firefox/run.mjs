// Runs the tests in Firefox where one is installed; says so plainly where none is.
import { spawnSync } from 'node:child_process';
import { inCI } from '../run/inCI.mjs';
import { firefoxPath } from './program.mjs';

if (firefoxPath === undefined) {
  process.stdout.write(
    'firefox: SKIPPED, no Firefox found. Install one (Debian: apt-get install firefox-esr) or name it in FIREFOX_PATH.\n',
  );
  process.exit(inCI ? 1 : 0);
}
const { status } = spawnSync('playwright', ['test', '--project=firefox', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
