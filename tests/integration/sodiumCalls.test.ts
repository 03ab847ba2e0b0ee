import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sodiumCalls } from '../../build/sodiumCalls.ts';

const wrappers = path.resolve(
  path.dirname(createRequire(import.meta.url).resolve('libsodium-wrappers')),
  '../modules-sumo-esm/libsodium-wrappers.mjs',
);
const program = path.resolve(wrappers, '../../../../libsodium-sumo/dist/modules-sumo-esm/libsodium-sumo.mjs');
const caller = path.resolve(import.meta.dirname, '../../crypto-core/src/suite/sodium.ts');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sodium-calls-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns what the plugin makes of libsodium, or of its wrappers. */
async function transformed(code: string, calling?: string): Promise<string> {
  const { transform } = sodiumCalls(calling) as Plugin & {
    transform: {
      handler: (code: string) => Promise<{ code: string }>;
    };
  };
  return (await transform.handler(code)).code;
}

describe("libsodium's wrappers, with what crypto-core calls alone", () => {
  it('start, and have every call of crypto-core and few others', async () => {
    const code = await transformed(await readFile(wrappers, 'utf8'));
    const file = path.join(folder, 'wrappers.mjs');
    const programFile = path.join(folder, 'program.mjs');
    const programCode = await transformed(await readFile(program, 'utf8'));
    await writeFile(programFile, programCode);
    await writeFile(file, code.replace('"libsodium-sumo"', JSON.stringify(pathToFileURL(programFile).href)));
    const { default: sodium } = (await import(pathToFileURL(file).href)) as {
      default: Record<string, unknown>;
    };
    await sodium.ready;

    const source = await readFile(caller, 'utf8');
    const called = new Set([...source.matchAll(/\bsodium\.(crypto_\w+)/g)].map(([, name]) => name ?? ''));
    expect(called.size).toBeGreaterThan(15);
    for (const name of called) expect(sodium).toHaveProperty(name);
    // Beside them, what the wrappers try as they start: a box of bytes, sealed and opened.
    const others = Object.entries(sodium)
      .filter(([name, value]) => name.startsWith('crypto_') && typeof value !== 'string' && !called.has(name))
      .map(([name]) => name);
    expect(others.filter((name) => !name.startsWith('crypto_secretbox_'))).toEqual([]);
    // A function that is not there would be missed only when something calls it.
    const calledOfProgram = new Set(
      Object.values(sodium).flatMap((value) =>
        typeof value === 'function'
          ? [...String(value).matchAll(/\.(_\w+)/g)].map(([, name]) => name ?? '')
          : [],
      ),
    );
    expect(calledOfProgram.size).toBeGreaterThan(25);
    const instance = sodium.libsodium as Record<string, unknown>;
    expect([...calledOfProgram].filter((name) => typeof instance[name] !== 'function')).toEqual([]);
    expect(programCode.length).toBeLessThan((await readFile(program, 'utf8')).length - 20_000);
    const hash = sodium.crypto_hash_sha256 as (bytes: Uint8Array) => Uint8Array;
    expect(Buffer.from(hash(new Uint8Array(0))).toString('hex')).toMatch(/^e3b0c44298fc1c14/);
  });

  it('stop the build where crypto-core calls what they do not have', async () => {
    const calling = path.join(folder, 'calling.ts');
    await writeFile(calling, 'sodium.crypto_hash_sha257(bytes);');
    await expect(transformed(await readFile(wrappers, 'utf8'), calling)).rejects.toThrow(
      'crypto_hash_sha257',
    );
  });

  it('stop the build where they list what they export otherwise', async () => {
    await expect(transformed('import e from"libsodium-sumo";')).rejects.toThrow('no longer lists');
    await expect(transformed('export default {};')).rejects.toThrow('no longer names');
  });
});
