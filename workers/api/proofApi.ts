import type { CryptoApi } from './cryptoApi.ts';

/**
 * The API of an instance that proves things on the page /prove. It is of the very script that holds the keys, and has none of them: its
 * storage is its own, nobody is asked for a password, and all of it is gone with the page.
 */
export interface ProofApi extends CryptoApi {
  /**
   * Runs published cases of one format, as the file has them (crypto-core, `vectors`).
   * @returns for each null where all came out as it was published, otherwise what did not. Errors: `usage` for another format
   */
  runVectors(format: string, cases: readonly unknown[]): Promise<(string | null)[]>;
}

/** How the script is told that it is such an instance: by its thread's name, with what tells its storage from others'. */
export const proofThread = 'sinetti-proof:';
