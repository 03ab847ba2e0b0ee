import { ready } from '@sinetti/crypto-core';
import { runVector, vectorFormats } from '@sinetti/crypto-core/vectors';
import { check } from '../api/arguments.ts';
import { CryptoApiError } from '../api/errors.ts';
import { type ProofApi, proofThread } from '../api/proofApi.ts';
import { array, oneOf } from '../codec/guards.ts';
import { type CryptoApiDeps, createCryptoApi } from './createCryptoApi.ts';

const Format = oneOf(...vectorFormats);
/** Each case is read by the format that it is of. */
const Cases = array((value) => value, 200);

/** Returns whether a thread of this name proves things. */
export const isProof = (thread: string): boolean => thread.startsWith(proofThread);

/**
 * Creates the api of an instance that proves things: the same code over a storage apart from the account's.
 * @param place begins the names of its databases and locks, and of nobody else's
 */
export function createProofApi(deps: Omit<CryptoApiDeps, 'prompt'>, place: string): ProofApi {
  const api = createCryptoApi({
    ...deps,
    indexedDB: databasesOf(deps.indexedDB, place),
    locks: { request: (name, callback) => deps.locks.request(place + name, callback) },
    // A page that had its question shown where the password is asked for would learn nothing, but somebody would have typed it.
    prompt: { ask: () => Promise.reject(new CryptoApiError('cancelled')) },
  });
  return {
    ...api,
    async runVectors(format, cases) {
      const [known, all] = [check('runVectors', Format, format), check('runVectors', Cases, cases)];
      await ready();
      return all.map((vector) => runVector(known, vector));
    },
  };
}

function databasesOf(factory: IDBFactory, place: string): IDBFactory {
  return {
    open: (name, version) => factory.open(place + name, version),
    deleteDatabase: (name) => factory.deleteDatabase(place + name),
    databases: () => Promise.resolve([]),
    cmp: (one, other) => factory.cmp(one, other),
  };
}

/**
 * Keeps the place while its thread lives, and deletes the databases of those that are gone: a page that is closed has no time for it.
 * @param place as {@link createProofApi} has it
 */
export async function sweepProofs(place: string, factory: IDBFactory, locks: LockManager): Promise<void> {
  void locks.request(place, () => new Promise(() => undefined));
  const names = (await factory.databases()).map(({ name }) => name ?? '');
  const { held = [], pending = [] } = await locks.query();
  const alive = [place, ...[...held, ...pending].map(({ name }) => name ?? '')];
  for (const name of names) {
    const isLeft =
      name.startsWith(proofThread) && !alive.some((other) => other !== '' && name.startsWith(other));
    if (isLeft) factory.deleteDatabase(name);
  }
}
