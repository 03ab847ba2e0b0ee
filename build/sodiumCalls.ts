import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Plugin, parseAst } from 'vite';

/** The one module that calls libsodium (build/doors.mjs). */
const caller = path.resolve(import.meta.dirname, '../crypto-core/src/suite/sodium.ts');
const wrappers = path.resolve(
  path.dirname(createRequire(import.meta.url).resolve('libsodium-wrappers')),
  '../modules-sumo-esm/libsodium-wrappers.mjs',
);

/** Where the wrappers list what they export: names beside functions, then names of constants. */
const listedFunctions = /=\["(crypto_aead_[\w",]+)"\],(\w)=\[([\w$,]+)\]/g;
const listedConstants = /=\["(SODIUM_LIBRARY_[\w",]+)"\]/g;
/** Where they list constants that are texts, of which crypto-core reads none. */
const listedTexts = /=\["SODIUM_VERSION_STRING"[\w",]*\]/g;
/** Where they export, one by one, the tools that they have beside them. */
const listedTools = /((?:,t\.\w+=\w+)+);export default t;/g;
/** Where libsodium gives a function of its WebAssembly a name. */
const namedExport = /\w\.(_\w+)=\w\.[\w$]+,/g;

interface Wrappers {
  /** Their code with those alone that are called. */
  readonly code: string;
  /** Names of what that code calls of libsodium, and no others. */
  readonly calls: ReadonlySet<string>;
}

/**
 * Leaves in libsodium and its wrappers only what crypto-core calls and what they test themselves with. They export everything
 * by lists, so no builder sees that nine in ten are never called.
 */
export function sodiumCalls(calling = caller): Plugin {
  return {
    name: 'sodium-calls',
    transform: {
      filter: { id: /\/libsodium-(?:wrappers|sumo)\.m?js$/ },
      async handler(code) {
        const isWrappers = code.includes('from"libsodium-sumo"');
        const called = await readFile(calling, 'utf8');
        const kept = wrappersOf(isWrappers ? code : await readFile(wrappers, 'utf8'), called);
        return { code: isWrappers ? kept.code : withExports(code, kept.calls), map: null };
      },
    },
  };
}

/** @throws Error if they list what they export otherwise, or lack what is called */
function wrappersOf(code: string, calling: string): Wrappers {
  const functions = [...code.matchAll(listedFunctions)];
  const constants = [...code.matchAll(listedConstants)];
  const tools = [...code.matchAll(listedTools)];
  if (functions.length !== 1 || constants.length !== 1 || tools.length !== 1)
    throw new Error('libsodium no longer lists what it exports as it did.');
  const names = functions[0]?.[1]?.split('","') ?? [];
  const bodies = functions[0]?.[3]?.split(',') ?? [];
  const constantNames = constants[0]?.[1]?.split('","') ?? [];
  if (names.length !== bodies.length) throw new Error('libsodium has names without functions.');

  const called = namesIn(calling, /\bsodium\.(crypto_\w+)/g);
  const known = new Set([...names, ...constantNames]);
  const unknown = called.filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`libsodium doesn't export ${unknown.join(', ')}.`);
  const kept = new Set([...called, ...namesIn(code, /\b\w\.((?:crypto|randombytes)_\w+)/g)]);

  const pairs = names.map((name, at) => [name, bodies[at]] as const);
  const keptPairs = pairs.filter(([name]) => kept.has(name));
  const keptConstants = constantNames.filter((name) => kept.has(name));
  const keptBodies = new Set(keptPairs.map(([, body]) => body));
  const toolPairs = [...(tools[0]?.[1] ?? '').matchAll(/,t\.(\w+)=(\w+)/g)];
  const usedTools = new Set([
    ...namesIn(calling, /\bsodium\.(\w+)/g),
    ...namesIn(code, /\bt\.(\w+)\b(?!=)/g),
  ]);
  const keptTools = toolPairs.filter(([, name = '']) => usedTools.has(name));
  const left = new Set(bodies.filter((body) => !keptBodies.has(body)));
  return {
    code: code
      .replace(
        listedFunctions,
        (_all, _names, list: string) =>
          `=${JSON.stringify(keptPairs.map(([name]) => name))},${list}=[${keptPairs.map(([, body]) => body).join(',')}]`,
      )
      .replace(listedConstants, () => `=${JSON.stringify(keptConstants)}`)
      .replace(listedTexts, '=[]')
      .replace(listedTools, () => `${keptTools.map(([whole]) => whole).join('')};export default t;`),
    calls: new Set([
      // It calls some by themselves, past the wrappers.
      ...namesIn(calling, /\blib\.(_\w+)/g),
      ...namesIn(withoutFunctions(code, left), /\.(_\w+)/g),
      ...keptPairs.map(([name]) => `_${name}`),
      ...keptConstants.map((name) => `_${name.toLowerCase()}`),
    ]),
  };
}

/** Returns the code without the functions of these names at its top, which nothing else calls. */
function withoutFunctions(code: string, left: ReadonlySet<string>): string {
  const kept: string[] = [];
  let from = 0;
  for (const node of parseAst(code).body) {
    if (node.type !== 'FunctionDeclaration' || !left.has(node.id?.name ?? '')) continue;
    kept.push(code.slice(from, node.start));
    from = node.end;
  }
  return [...kept, code.slice(from)].join('');
}

/** Returns libsodium with no more functions of its WebAssembly than these. @throws Error if it names them otherwise */
function withExports(code: string, calls: ReadonlySet<string>): string {
  const named = new Set(namesIn(code, namedExport));
  if (named.size < calls.size) throw new Error('libsodium no longer names what it exports as it did.');
  return code.replace(namedExport, (whole, name: string) => (calls.has(name) ? whole : ''));
}

function namesIn(code: string, pattern: RegExp): string[] {
  return [...code.matchAll(pattern)].map(([, name]) => name ?? '');
}
