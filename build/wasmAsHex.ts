import type { Plugin } from 'vite';

/** What base64 makes of the first bytes of every WebAssembly module. */
const wasmInBase64 = /(["'`])(AGFzbQ[A-Za-z0-9+/=]{10000,})\1/g;

/**
 * Writes the WebAssembly that libsodium carries as base64 in hexadecimal, which brotli shrinks to three quarters of that:
 * in base64 no two equal bytes look alike. The script makes base64 of it again when it starts.
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
          return `(${toBase64.toString()})("${hex}")`;
        });
        return { code: written, map: null };
      },
    },
  };
}

/** Runs in the browser, so it uses nothing from here. @param hex in lower case */
function toBase64(hex: string): string {
  const digit = (at: number): number => {
    const code = hex.charCodeAt(at);
    return code < 58 ? code - 48 : code - 87;
  };
  let binary = '';
  for (let at = 0; at < hex.length; at += 2) binary += String.fromCharCode(digit(at) * 16 + digit(at + 1));
  return btoa(binary);
}
