// The options that the benchmarks which drive a browser have in common.
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { chromiumPath } from '../e2e/browser.mjs';

export const progress = (line) => process.stderr.write(`bench: ${line}\n`);

/**
 * Runs a benchmark with what the command line says, unless that asks for help or there is no Chromium.
 *
 * @param {string} usage
 * @param {import('node:util').ParseArgsConfig['options']} options beside `json` and `help`
 * @param {(values: Record<string, any>) => Promise<void>} bench
 */
export async function runCommand(usage, options, bench) {
  const { values } = parseArgs({
    options: { ...options, json: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    process.stdout.write(usage);
  } else if (chromiumPath === undefined) {
    process.stderr.write('bench: no Chromium found. Install one or name it in CHROMIUM_PATH.\n');
    process.exitCode = 1;
  } else {
    await bench(values);
  }
}

export function describeMachine() {
  return { processor: cpus()[0]?.model ?? 'unknown', cores: cpus().length };
}

/** @param {string | undefined} file where `--json` wants it */
export async function writeResults(file, results) {
  if (file !== undefined) await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
}
