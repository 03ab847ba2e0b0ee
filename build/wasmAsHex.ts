import type { Plugin } from 'vite';

/** The program that libsodium carries as base64, with the function that reads it, one byte after the other. */
const wasmInBase64 =
  /\(\w+=>\{for\((?:(?!=>).){1,400}?return \w+\}\)\((["'`])(AGFzbQ[A-Za-z0-9+/=]{10000,})\1\)/g;

/**
 * Writes the WebAssembly that libsodium carries as base64 in hexadecimal, which brotli shrinks to three quarters of that (in
 * base64 no two equal bytes look alike), and which browsers read by themselves.
 */
export function wasmAsHex(): Plugin {
  return {
    name: 'wasm-as-hex',
    transform: {
      filter: { id: /\/libsodium-sumo\.m?js$/ },
      handler(code) {
        const found = [...code.matchAll(wasmInBase64)];
        if (found.length !== 1) this.error(`libsodium has ${found.length} WebAssembly modules, not one.`);
        const written = code.replace(wasmInBase64, (_, _quote, base64: string) => {
          const hex = Buffer.from(base64, 'base64').toString('hex');
          return `(${fromHex.toString()})("${hex}")`;
        });
        return { code: written, map: null };
      },
    },
  };
}

/**
 * Runs in the browser, so it uses nothing from here. Browsers do it in no time by themselves (`Uint8Array.fromHex`), where they
 * know how to; the loop takes as long as everything else that the worker does before its first answer.
 * @param hex in lower case
 */
function fromHex(hex: string): Uint8Array {
  const { fromHex: natively } = Uint8Array as unknown as { fromHex?: (hex: string) => Uint8Array };
  if (natively !== undefined) return natively.call(Uint8Array, hex);
  const digit = (at: number): number => {
    const code = hex.charCodeAt(at);
    return code < 58 ? code - 48 : code - 87;
  };
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = digit(2 * at) * 16 + digit(2 * at + 1);
  return bytes;
}
