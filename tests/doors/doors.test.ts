import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const fixtures = join(import.meta.dirname, 'fixtures');
const run = promisify(execFile);

interface Finding {
  readonly filename: string;
  readonly code: string;
  readonly help?: string;
  readonly message: string;
}

async function lint(path: string): Promise<Finding[]> {
  const answer = await run(
    join(root, 'node_modules/.bin/oxlint'),
    ['--config', '.oxlintrc.json', '--no-ignore', '--format', 'json', path],
    { cwd: root, maxBuffer: 16 * 1024 * 1024 },
  ).catch((failed: { stdout: string }) => failed);
  return (JSON.parse(answer.stdout) as { diagnostics: Finding[] }).diagnostics;
}

const files = (await readdir(fixtures, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

/** Every message of a door in the linter's configuration, so that a door without a fixture is noticed. */
async function doorMessages(): Promise<string[]> {
  const config = JSON.parse(await readFile(join(root, '.oxlintrc.json'), 'utf8')) as {
    overrides: {
      rules: Record<string, [string, { patterns: { message: string }[] }] | string>;
    }[];
  };
  const rules = config.overrides.map((override) => override.rules['no-restricted-imports']);
  return rules.flatMap((rule) => (Array.isArray(rule) ? rule[1].patterns.map(({ message }) => message) : []));
}

describe('the doors between rooms', () => {
  let findings: Finding[] = [];
  beforeAll(async () => {
    findings = await lint('tests/doors/fixtures');
  });

  it.each(files.map((file) => [relative(fixtures, file), file]))('refuse %s', async (name, file) => {
    const expected = /^\/\/ must fail: (.+)$/m.exec(await readFile(file, 'utf8'))?.[1];
    expect(expected).toBeDefined();
    const helps = findings
      .filter((finding) => finding.code.includes('no-restricted-imports') && finding.filename.endsWith(name))
      .map((finding) => finding.help ?? '');
    expect(helps.some((help) => help.startsWith(expected ?? '?'))).toBe(true);
  });

  it('each have a fixture', async () => {
    const shown = new Set(findings.map((finding) => finding.help));
    expect((await doorMessages()).filter((message) => !shown.has(message))).toEqual([]);
  });
});
