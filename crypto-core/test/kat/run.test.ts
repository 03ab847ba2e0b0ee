/** Plays `npm run vectors -- FILE…` on files that it has not seen. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { readVectors } from './vectors.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'sinetti-vectors-'));
afterAll(() => rmSync(scratch, { recursive: true }));

function write(name: string, content: unknown): string {
  const file = path.join(scratch, name);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

it('runs files of any name by their format, case by case, and says at the end how many passed and failed', () => {
  type Case = Record<string, unknown>;
  const [welcome = {}] = readVectors<Case[]>('mls/welcome.json');
  const [wrong = {}, ...right] = readVectors<Case[]>('mls/psk_secret.json');
  const files = [
    write('one.json', [welcome, { ...welcome, cipher_suite: 1 }]),
    write('two.json', [...right, { ...wrong, psk_secret: 'ff'.repeat(32) }]),
    write('three.json', [{ of: 'nobody' }]),
    write('four.json', []),
    path.join(scratch, 'none.json'),
  ];
  const program = fileURLToPath(new URL('run.mjs', import.meta.url));
  const { stdout, status } = spawnSync(process.execPath, [program, ...files], { encoding: 'utf8' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toBe(`${files[0]} (welcome): 1 passed, 0 failed, 1 of other suites left out`);
  expect(lines).toContain(`${files[1]} (psk_secret): ${right.length} passed, 1 failed`);
  expect(lines).toContain(`${files[2]}: in no format of the working group`);
  expect(lines.at(-1)).toBe(`${1 + right.length} passed, 4 failed`);
  expect(status).toBe(1);

  const good = spawnSync(process.execPath, [program, files[0] ?? ''], { encoding: 'utf8' });
  expect([good.stdout.trimEnd().split('\n').at(-1), good.status]).toEqual(['1 passed, 0 failed', 0]);
});
