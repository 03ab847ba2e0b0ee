// Runs Playwright where a Chromium is installed; says so plainly where none is.
import { spawnSync } from 'node:child_process';
import { inCI } from '../run/inCI.mjs';
import { chromiumPath } from './browser.mjs';

if (chromiumPath === undefined) {
  process.stdout.write(
    'e2e: SKIPPED, no Chromium found. Install one (Debian: apt-get install chromium) or name it in CHROMIUM_PATH.\n',
  );
  process.exit(inCI ? 1 : 0);
}
const { status } = spawnSync('playwright', ['test', ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(status ?? 1);
