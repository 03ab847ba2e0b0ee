/** Proposals of a commit, named in the errors of those that make it invalid. */
import { toHex } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import type { Sender } from '../structs/framedContent.ts';
import type { Proposal } from '../structs/proposal.ts';

/** A proposal with its sender, which is the committer when the commit carries the proposal by value. */
export interface CommittedProposal {
  readonly proposal: Proposal;
  readonly sender: Sender;
  /** ProposalRef; null when the commit carries the proposal by value. */
  readonly ref: Uint8Array | null;
}

/** Refuses a proposal. @throws CryptoError 'invalid-proposal' */
export function refuse(check: string, detail: string): never {
  throw new CryptoError('invalid-proposal', `${check}: ${detail}`);
}

/**
 * Runs a check of one proposal, and names the proposal in its error when the commit refers to it.
 * @param number its place in the commit's list, from 0, by which the error names a proposal by value
 */
export function blaming<T>(ref: Uint8Array | null, check: () => T, number?: number): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof CryptoError) || (ref === null && number === undefined)) throw error;
    const name = ref === null ? `${number} of the commit` : toHex(ref);
    throw new CryptoError(error.code, `${error.detail} (proposal ${name})`, ref);
  }
}
