import type { Plugin } from 'vite';
import { withExportsAlone } from './wasmFunctions.ts';

/** The call by which libsodium makes bytes of its WebAssembly, which it carries as base64. */
const decodedWasm = /\(\w=>\{for\(var .{1,400}?return \w\}\)\((["'`])(AGFzbQ[A-Za-z0-9+/=]{10000,})\1\)/g;

/** Where libsodium reads an export of its WebAssembly. */
const readExport = /=\w\.([\w$]+)[,}]/g;

/**
 * Leaves in the WebAssembly of libsodium what its exports that are read need, and writes it, which was base64, in one character
 * for each byte, which brotli shrinks to three quarters of that: in base64 no two equal bytes look alike.
 */
export function wasmAsText(): Plugin {
  return {
    name: 'wasm-as-text',
    transform: {
      filter: { id: /\/libsodium-sumo\.m?js$/ },
      handler(code) {
        const found = [...code.matchAll(decodedWasm)];
        if (found.length !== 1) this.error(`libsodium has ${found.length} WebAssembly modules, not one.`);
        const read = new Set([...code.matchAll(readExport)].map(([, name]) => name));
        const written = code.replace(decodedWasm, (_call, _quote, base64: string) => {
          const module = withExportsAlone(Buffer.from(base64, 'base64'), (name) => read.has(name));
          const flipped = Buffer.from(module).map((byte) => byte ^ 0x40);
          const text = Buffer.from(flipped).toString('latin1');
          return `(${toBytes.toString()})(${JSON.stringify(text)})`;
        });
        return { code: written, map: null };
      },
    },
  };
}

/**
 * Runs in the browser, so it uses nothing from here.
 * @param text one character for each byte, with the bit flipped by which most bytes are letters and few have to be escaped
 */
function toBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = text.charCodeAt(at) ^ 0x40;
  return bytes;
}
