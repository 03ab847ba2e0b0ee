import { type Json, parseCanonical } from './canonical.ts';
import { Failure } from './errors.ts';

/** The two origins that a client is served from: the app's, and that of the keys. */
export type Origin = 'app' | 'keys';
export const origins = ['app', 'keys'] as const;

/** The kinds of policy: of the page, of the frame of the keys (the room), of the page for its storage, and of three workers. */
export const policyNames = [
  'page',
  'room',
  'storage',
  'workers.crypto',
  'workers.app',
  'workers.keys',
] as const;
export type PolicyName = (typeof policyNames)[number];
/** The policies of documents; the others are of workers. */
export const documentPolicies: readonly PolicyName[] = ['page', 'room', 'storage'];

type Texts = Readonly<Record<string, string>>;

/** A step of the chain that puts a client into use. `{app}` and `{keys}` in its headers stand for the two origins. */
export interface ReleaseStatement {
  readonly type: 'sinetti-release';
  readonly version: string;
  /** The place in the chain, from 1. */
  readonly seq: number;
  /** The SHA-256 of the step before. */
  readonly prev: string;
  readonly source: {
    /** The commit that is built, in hexadecimal. */
    readonly commit: string;
    /** The SHA-256 of `package-lock.json`. */
    readonly lockfile: string;
    /** The version of Node.js that built it: `v20.20.2`. */
    readonly node: string;
  };
  /** The SHA-256 of each file by its path from the origin's root. */
  readonly files: Readonly<Record<Origin, Texts>>;
  /** The SHA-256 of each WebAssembly module, sorted. */
  readonly wasm: readonly string[];
  readonly policies: Readonly<Record<PolicyName, string>>;
  /** The paths that are served under another policy than that of the page, or of the room. */
  readonly policyOf: Readonly<Record<Origin, Readonly<Record<string, PolicyName>>>>;
  /** The headers of every answer, without policy and caching. */
  readonly headers: Readonly<Record<Origin, Texts>>;
  /** The further headers of answers that have the policy of a document, at both origins. */
  readonly documents: Texts;
  /** `Cache-Control` of paths under /assets/, which hold their hash, and of the others. */
  readonly caching: { readonly assets: string; readonly others: string };
}

/** A step of the chain that says whose signatures count from here on. */
export interface KeysStatement {
  readonly type: 'sinetti-release-keys';
  readonly seq: number;
  /** The SHA-256 of the step before; null for the first of all. */
  readonly prev: string | null;
  /** How many of the keys have to sign. */
  readonly threshold: number;
  /** The keys by the names of their holders, as OpenSSH writes them. */
  readonly keys: Texts;
}

export type Statement = ReleaseStatement | KeysStatement;

/**
 * Reads one step of the chain: canonical JSON with these members and no others.
 * @throws Failure `malformed`
 */
export function parseStatement(bytes: Uint8Array): Statement {
  const value = parseCanonical(bytes);
  const type = isObject(value) ? value.type : undefined;
  if (type === 'sinetti-release') return parseRelease(value);
  if (type === 'sinetti-release-keys') return parseKeys(value);
  throw new Failure('malformed', 'This is neither a release nor a file of release keys.');
}

/** The names of those who hold keys, which are part of the names of files. */
export const signerName = /^[a-z][a-z0-9-]{0,31}$/;
const hashText = /^[\w-]{43}$/;
const filePath = /^(?:\/[\w][\w.-]*)+$/;
const headerName = /^[a-z][a-z0-9-]*$/;
const headerValue = /^[\x20-\x7e]*$/;

function parseRelease(value: Json): ReleaseStatement {
  const fields = members(value, [
    'caching',
    'documents',
    'files',
    'headers',
    'policies',
    'policyOf',
    'prev',
    'seq',
    'source',
    'type',
    'version',
    'wasm',
  ]);
  const source = members(fields.source, ['commit', 'lockfile', 'node']);
  const caching = members(fields.caching, ['assets', 'others']);
  const policies = members(fields.policies, [...policyNames]);
  const named = (text: Json | undefined): PolicyName => {
    const name = policyNames.find((each) => each === text);
    return name ?? refuse('a policy that there is not');
  };
  const ofBoth = <T>(field: Json | undefined, read: (part: Json | undefined) => T): Record<Origin, T> => {
    const both = members(field, ['app', 'keys']);
    return { app: read(both.app), keys: read(both.keys) };
  };
  const files = ofBoth(fields.files, (part) => record(part, filePath, (text) => matching(text, hashText)));
  for (const origin of origins) {
    if (Object.keys(files[origin]).length === 0) refuse(`no file at the origin of the ${origin}`);
  }
  const wasm = list(fields.wasm).map((text) => matching(text, hashText));
  if (wasm.some((hash, at) => at > 0 && hash <= (wasm[at - 1] ?? ''))) refuse('an unsorted list');
  return {
    type: 'sinetti-release',
    version: matching(fields.version, /^\d+\.\d+\.\d+(?:-[\w.]+)?$/),
    seq: position(fields.seq),
    prev: matching(fields.prev, hashText),
    source: {
      commit: matching(source.commit, /^[0-9a-f]{40}$/),
      lockfile: matching(source.lockfile, hashText),
      node: matching(source.node, /^v\d+\.\d+\.\d+$/),
    },
    files,
    wasm,
    policies: Object.fromEntries(
      policyNames.map((name) => [name, matching(policies[name], headerValue)]),
    ) as Record<PolicyName, string>,
    policyOf: ofBoth(fields.policyOf, (part) => record(part, filePath, named)),
    headers: ofBoth(fields.headers, headersIn),
    documents: headersIn(fields.documents),
    caching: {
      assets: matching(caching.assets, headerValue),
      others: matching(caching.others, headerValue),
    },
  };
}

function headersIn(part: Json | undefined): Texts {
  return record(part, headerName, (text) => matching(text, headerValue));
}

function parseKeys(value: Json): KeysStatement {
  const fields = members(value, ['keys', 'prev', 'seq', 'threshold', 'type']);
  const keys = record(fields.keys, signerName, (text) => matching(text, /^[\w.@-]+ [A-Za-z0-9+/]+=*$/));
  const threshold = position(fields.threshold);
  if (threshold < 2) refuse('one signature for enough');
  if (threshold > Object.keys(keys).length) refuse('fewer keys than have to sign');
  if (new Set(Object.values(keys)).size < Object.keys(keys).length) refuse('one key under two names');
  const prev = fields.prev === null ? null : matching(fields.prev, hashText);
  return { type: 'sinetti-release-keys', seq: position(fields.seq), prev, threshold, keys };
}

function refuse(found: string): never {
  throw new Failure('malformed', `A statement has ${found}.`);
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of an object that has these names and no others. */
function members<Name extends string>(
  value: Json | undefined,
  names: readonly Name[],
): Readonly<Record<Name, Json>> {
  if (!isObject(value)) return refuse('no object where one belongs');
  const others = Object.keys(value).filter((name) => !names.includes(name as Name));
  if (others.length > 0) refuse(`a member that is not known: ${others.join(', ')}`);
  const missing = names.filter((name) => !Object.hasOwn(value, name));
  if (missing.length > 0) refuse(`no ${missing.join(', ')}`);
  return value as Readonly<Record<Name, Json>>;
}

function record<T>(
  value: Json | undefined,
  name: RegExp,
  read: (item: Json) => T,
): Readonly<Record<string, T>> {
  if (!isObject(value)) return refuse('no object where one belongs');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [matching(key, name), read(item)]));
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : refuse('no list where one belongs');
}

function matching(value: Json | undefined, form: RegExp): string {
  return typeof value === 'string' && form.test(value)
    ? value
    : refuse(`a wrong text: ${JSON.stringify(value)}`);
}

function position(value: Json | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
    ? value
    : refuse('a wrong number');
}
