/** Received and own proposals at rest, so that a restart within an epoch loses none (RFC 9420 section 12.4). */
import { NO_LIMITS } from '../codec/limits.ts';
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { readSender, writeSender } from '../structs/framedContent.ts';
import { readProposal, writeProposal } from '../structs/proposal.ts';
import type { StoredProposal } from './proposalList.ts';

const RECORD_VERSION = 1;
const REF_LENGTH = 32;

/**
 * Encodes a proposal with its sender, epoch and ProposalRef (RFC 9420 section 5.2). The record is not secret, but a changed one is
 * not noticed: seal it.
 */
export function encodeStoredProposal(stored: StoredProposal): Uint8Array {
  return encode(stored, (w, { ref, epoch, sender, proposal }) => {
    w.u8(RECORD_VERSION);
    w.bytes(ref);
    w.u64(epoch);
    writeSender(w, sender);
    writeProposal(w, proposal);
  });
}

/**
 * Restores a proposal that commits of the epoch may refer to (RFC 9420 section 12.4). It was verified when it came; the caller has checked that the record is the one it stored.
 * @throws CryptoError 'malformed', 'unsupported' for a record of another version
 */
export function decodeStoredProposal(record: Uint8Array): StoredProposal {
  return decode(
    record.slice(),
    (r) => {
      const version = r.u8();
      if (version !== RECORD_VERSION) throw new CryptoError('unsupported', `proposal record ${version}`);
      return {
        ref: r.bytes(REF_LENGTH),
        epoch: r.u64(),
        sender: readSender(r),
        proposal: readProposal(r),
      };
    },
    NO_LIMITS,
  );
}
