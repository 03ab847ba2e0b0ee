import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import type { Plugin } from 'vite';
import { describe, expect, it } from 'vitest';
import { sodiumCalls } from '../../build/sodiumCalls.ts';
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

/** Returns the module in what the plugin has written. */
function moduleIn(written: string): Uint8Array<ArrayBuffer> {
  const [expression] = /\(function toBytes[^]*?\n?\}\)\("(?:[^"\\]|\\.)+"\)/.exec(written) ?? [];
  return Uint8Array.from(runInNewContext(expression ?? '') as Uint8Array);
}

const base64Wasm = /(["'`])(AGFzbQ[A-Za-z0-9+/=]{10000,})\1/;

describe('the WebAssembly of libsodium, written as text', () => {
  it('is read as it was where all of it is used', async () => {
    const code = await readFile(libsodium, 'utf8');
    const published = Buffer.from(base64Wasm.exec(code)?.[2] ?? '', 'base64');
    const { code: written } = await transformed(code);
    expect(written).not.toContain('AGFzbQ');
    const module = moduleIn(written);
    expect(module.length).toBeGreaterThan(200_000);
    expect(exportsOf(module)).toEqual(exportsOf(Uint8Array.from(published)));
    // Functions that none of its exports reaches are shorter.
    expect(module.length).toBeLessThanOrEqual(published.length);
  });

  it('has of each function the bytes that were published, or a trap where nothing can reach it', async () => {
    const code = await readFile(libsodium, 'utf8');
    const published = Uint8Array.from(Buffer.from(base64Wasm.exec(code)?.[2] ?? '', 'base64'));
    const calls = sodiumCalls() as unknown as {
      transform: { handler(code: string): Promise<{ code: string }> };
    };
    const module = moduleIn((await transformed((await calls.transform.handler(code)).code)).code);
    expect(WebAssembly.validate(module)).toBe(true);
    expect(exportsOf(module).length).toBeLessThan(80);
    const before = sectionsOf(published);
    const after = sectionsOf(module);
    expect([...after.keys()]).toEqual([...before.keys()]);
    const others = [...before.keys()].filter((id) => id !== exportSection && id !== codeSection);
    for (const id of others) expect(after.get(id)).toEqual(before.get(id));
    const functions = bodiesOf(before.get(codeSection) ?? published);
    const left = bodiesOf(after.get(codeSection) ?? published);
    expect(left.length).toBe(functions.length);
    const trapping = left.filter((body) => body === '00000b').length;
    expect(left.filter((body, index) => body !== '00000b' && body !== functions[index])).toEqual([]);
    expect(trapping).toBeGreaterThan(200);
    expect(left.length - trapping).toBeGreaterThan(100);
  });

  it('stops the build where libsodium carries its program otherwise', async () => {
    await expect(transformed('const wasm = "AGFzbQ==";')).rejects.toThrow('0 WebAssembly modules');
  });

  it('stops the build where its program can’t be read', async () => {
    const code = await readFile(libsodium, 'utf8');
    const cut = code.replace(base64Wasm, (whole, quote: string, base64: string) =>
      whole.replace(base64 + quote, `${base64.slice(0, 100_000)}${quote}`),
    );
    await expect(transformed(cut)).rejects.toThrow('can’t be read');
  });
});

const exportSection = 7;
const codeSection = 10;

function exportsOf(module: Uint8Array<ArrayBuffer>): string[] {
  return WebAssembly.Module.exports(new WebAssembly.Module(module)).map(({ name }) => name);
}

/** Returns what each section of a module holds, by its id. */
function sectionsOf(module: Uint8Array): Map<number, Uint8Array> {
  const sections = new Map<number, Uint8Array>();
  for (let at = 8; at < module.length; ) {
    const [length, from] = lengthAt(module, at + 1);
    sections.set(module[at] ?? 0, module.slice(from, from + length));
    at = from + length;
  }
  return sections;
}

/** Returns the functions of a code section, in hex. */
function bodiesOf(content: Uint8Array): string[] {
  const bodies: string[] = [];
  for (let [, at] = lengthAt(content, 0); at < content.length; ) {
    const [length, from] = lengthAt(content, at);
    bodies.push(Buffer.from(content.subarray(from, from + length)).toString('hex'));
    at = from + length;
  }
  return bodies;
}

/** Returns a number in LEB128 and where what follows begins. */
function lengthAt(bytes: Uint8Array, start: number): [value: number, next: number] {
  let value = 0;
  let at = start;
  let byte: number;
  do {
    byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (at - start));
    at += 1;
  } while (byte >= 0x80);
  return [value, at];
}
