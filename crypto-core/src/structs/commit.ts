import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type Proposal, readProposal, writeProposal } from './proposal.ts';
import { readUpdatePath, type UpdatePath, writeUpdatePath } from './updatePath.ts';

/** A proposal carried by the commit itself, or the hash of one that was sent on its own. */
export type ProposalOrRef =
  | { readonly type: 'proposal'; readonly proposal: Proposal }
  | { readonly type: 'reference'; readonly reference: Uint8Array };

/** RFC 9420 section 12.4. */
export interface Commit {
  readonly proposals: readonly ProposalOrRef[];
  readonly path: UpdatePath | null;
}

const ProposalOrRefValue = { proposal: 1, reference: 2 } as const;

export function readProposalOrRef(r: Reader): ProposalOrRef {
  const type = r.u8();
  switch (type) {
    case ProposalOrRefValue.proposal:
      return { type: 'proposal', proposal: readProposal(r) };
    case ProposalOrRefValue.reference:
      return { type: 'reference', reference: r.opaque() };
    default:
      throw new CryptoError('malformed', `ProposalOrRef type ${type}`);
  }
}

export function writeProposalOrRef(w: Writer, item: ProposalOrRef): void {
  w.u8(ProposalOrRefValue[item.type]);
  if (item.type === 'proposal') writeProposal(w, item.proposal);
  else w.opaque(item.reference);
}

/** The bytes that commits were read from: these are signed and hashed, and writing thousands of ciphertexts anew costs more. */
const received = new WeakMap<Commit, Uint8Array>();

export function readCommit(r: Reader): Commit {
  const start = r.offset;
  const commit = { proposals: r.vector('proposals', readProposalOrRef), path: r.optional(readUpdatePath) };
  received.set(commit, r.since(start));
  return commit;
}

export function writeCommit(w: Writer, commit: Commit): void {
  const bytes = received.get(commit);
  if (bytes !== undefined) {
    w.bytes(bytes);
    return;
  }
  w.vector(commit.proposals, writeProposalOrRef);
  w.optional(commit.path, writeUpdatePath);
}
