import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'vite';

/** The one module that calls libsodium (build/doors.mjs). */
const caller = path.resolve(import.meta.dirname, '../crypto-core/src/suite/sodium.ts');

/** Where the wrappers list what they export: names beside functions, then names of constants. */
const listedFunctions = /=\["(crypto_aead_[\w",]+)"\],(\w)=\[([\w$,]+)\]/g;
const listedConstants = /=\["(SODIUM_LIBRARY_[\w",]+)"\]/g;

/**
 * Leaves in libsodium's wrappers only what crypto-core calls and what they test themselves with. They export everything by
 * lists, so no builder sees that nine in ten are never called.
 */
export function sodiumCalls(calling = caller): Plugin {
  return {
    name: 'sodium-calls',
    transform: {
      filter: { id: /\/libsodium-wrappers\.m?js$/ },
      async handler(code) {
        const functions = [...code.matchAll(listedFunctions)];
        const constants = [...code.matchAll(listedConstants)];
        if (functions.length !== 1 || constants.length !== 1)
          this.error('libsodium no longer lists what it exports as it did.');
        const names = functions[0]?.[1]?.split('","') ?? [];
        const bodies = functions[0]?.[3]?.split(',') ?? [];
        const constantNames = constants[0]?.[1]?.split('","') ?? [];
        if (names.length !== bodies.length) this.error('libsodium has names without functions.');

        const called = calledOf(await readFile(calling, 'utf8'), /\bsodium\.(crypto_\w+)/g);
        const known = new Set([...names, ...constantNames]);
        const unknown = called.filter((name) => !known.has(name));
        if (unknown.length > 0) this.error(`libsodium doesn't export ${unknown.join(', ')}.`);
        const kept = new Set([...called, ...calledOf(code, /\b\w\.((?:crypto|randombytes)_\w+)/g)]);

        const functionPairs = names
          .map((name, at) => [name, bodies[at]])
          .filter(([name]) => kept.has(name ?? ''));
        const written = code
          .replace(
            listedFunctions,
            (_all, _names, list: string) =>
              `=${JSON.stringify(functionPairs.map(([name]) => name))},${list}=[${functionPairs.map(([, body]) => body).join(',')}]`,
          )
          .replace(
            listedConstants,
            () => `=${JSON.stringify(constantNames.filter((name) => kept.has(name)))}`,
          );
        return { code: written, map: null };
      },
    },
  };
}

function calledOf(code: string, calls: RegExp): string[] {
  return [...code.matchAll(calls)].map(([, name]) => name ?? '');
}
