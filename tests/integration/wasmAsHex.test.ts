import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import type { Plugin } from 'vite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { wasmAsHex } from '../../build/wasmAsHex.ts';

const libsodium = path.resolve(
  path.dirname(createRequire(import.meta.url).resolve('libsodium-wrappers')),
  '../../../libsodium-sumo/dist/modules-sumo-esm/libsodium-sumo.mjs',
);

/** Returns what the plugin makes of libsodium, up to the end of the program in it. */
async function transformed(code: string): Promise<{ code: string }> {
  const { transform } = wasmAsHex() as Plugin & {
    transform: { handler: (this: { error(text: string): never }, code: string) => { code: string } };
  };
  const error = (text: string): never => {
    throw new Error(text);
  };
  return transform.handler.call({ error }, code);
}

afterEach(() => vi.unstubAllGlobals());

describe('the WebAssembly of libsodium, written in hexadecimal', () => {
  it.each(['by the browser', 'by a loop, where the browser does not'])('is read %s', async (how) => {
    const code = await readFile(libsodium, 'utf8');
    const base64 = /(["'`])(AGFzbQ[A-Za-z0-9+/=]{10000,})\1/.exec(code)?.[2] ?? '';
    const written = (await transformed(code)).code;
    const [expression] = /\(function toBytes[^]*?\)\("[0-9a-f]+"\)/.exec(written) ?? [];
    const known = { fromHex: (hex: string) => new Uint8Array(Buffer.from(hex, 'hex')) };
    const own = Object.assign(
      class extends Uint8Array {},
      how === 'by the browser' ? known : { fromHex: undefined },
    );
    const bytes = runInNewContext(expression ?? '', { Uint8Array: own }) as Uint8Array;
    expect(Buffer.from(bytes).toString('base64')).toBe(base64);
    expect(written).not.toContain('AGFzbQ');
  });

  it('stops the build where libsodium carries its program otherwise', async () => {
    await expect(transformed('const wasm = "AGFzbQ==";')).rejects.toThrow('0 WebAssembly modules');
  });
});
