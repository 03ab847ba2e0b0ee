// Adds up both runners' reports into one closing line; a missing report means tests that did not run.
import { existsSync, readFileSync } from 'node:fs';

const [unitPath, e2ePath] = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0 };

function read(path, runner) {
  if (!existsSync(path)) {
    process.stdout.write(`${runner}: no report, so its tests did not run to their end\n`);
    process.exitCode = 1;
    return undefined;
  }
  return JSON.parse(readFileSync(path, 'utf8'));
}

const unit = read(unitPath, 'vitest');
if (unit !== undefined) {
  total.passed += unit.numPassedTests;
  total.failed += unit.numFailedTests;
  total.skipped += unit.numPendingTests;
}
const e2e = read(e2ePath, 'playwright');
if (e2e !== undefined) {
  total.passed += e2e.stats.expected + e2e.stats.flaky;
  total.failed += e2e.stats.unexpected;
  total.skipped += e2e.stats.skipped;
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
