import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import type { Plugin } from 'vite';
import { describe, expect, it } from 'vitest';
import { wasmAsText } from '../../build/wasmAsText.ts';

const libsodium = path.resolve(
  path.dirname(createRequire(import.meta.url).resolve('libsodium-wrappers')),
  '../../../libsodium-sumo/dist/modules-sumo-esm/libsodium-sumo.mjs',
);

/** Returns what the plugin makes of libsodium, up to the end of the program in it. */
async function transformed(code: string): Promise<{ code: string }> {
  const { transform } = wasmAsText() as Plugin & {
    transform: { handler: (this: { error(text: string): never }, code: string) => { code: string } };
  };
  const error = (text: string): never => {
    throw new Error(text);
  };
  return transform.handler.call({ error }, code);
}

describe('the WebAssembly of libsodium, written as text', () => {
  it('is read as it was', async () => {
    const code = await readFile(libsodium, 'utf8');
    const base64 = /(["'`])(AGFzbQ[A-Za-z0-9+/=]{10000,})\1/.exec(code)?.[2] ?? '';
    const written = (await transformed(code)).code;
    const [expression] = /\(function toBytes[^]*?\n?\}\)\("(?:[^"\\]|\\.)+"\)/.exec(written) ?? [];
    const bytes = runInNewContext(expression ?? '') as Uint8Array;
    expect(bytes.length).toBeGreaterThan(200_000);
    expect(Buffer.from(bytes).toString('base64')).toBe(base64);
    expect(written).not.toContain('AGFzbQ');
  });

  it('stops the build where libsodium carries its program otherwise', async () => {
    await expect(transformed('const wasm = "AGFzbQ==";')).rejects.toThrow('0 WebAssembly modules');
  });
});
