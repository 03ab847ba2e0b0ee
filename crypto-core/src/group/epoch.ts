/** The step to the next epoch's key schedule (RFC 9420 section 8), shared by committers, receivers and joiners. */
import { wipe } from '../bytes.ts';
import { type ExporterTree, startExporterTree } from '../schedule/exporterTree.ts';
import { deriveEpoch, deriveJoinerSecret, type EpochSecrets } from '../schedule/keySchedule.ts';
import { SecretTree } from '../schedule/secretTree.ts';
import { confirmationTag, interimTranscriptHash } from '../schedule/transcript.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { encodeContext, type RetainedSecrets } from './state.ts';

/** The parts of a group's state that the key schedule gives. */
export interface EpochState {
  readonly secrets: RetainedSecrets;
  readonly secretTree: SecretTree;
  readonly exporterTree: ExporterTree;
  readonly interimTranscriptHash: Uint8Array;
  readonly confirmationTag: Uint8Array;
}

export interface EpochInput {
  readonly suite: CipherSuite;
  /** The GroupContext of the new epoch, with its confirmed transcript hash. */
  readonly context: GroupContext;
  readonly leafCount: number;
}

/** Moves the secrets that are used up into their trees and keeps the rest. */
export function startEpoch({ suite, context, leafCount }: EpochInput, secrets: EpochSecrets): EpochState {
  const { encryptionSecret, applicationExportSecret, ...retained } = secrets;
  const secretTree = SecretTree.create(suite, leafCount, encryptionSecret);
  wipe(encryptionSecret);
  const tag = confirmationTag(suite, retained.confirmationKey, context.confirmedTranscriptHash);
  return {
    secrets: retained,
    secretTree,
    exporterTree: startExporterTree(applicationExportSecret),
    confirmationTag: tag,
    interimTranscriptHash: interimTranscriptHash(suite, context.confirmedTranscriptHash, tag),
  };
}

/** Derives the next epoch from a commit. @param commitSecret all zero when the commit had no path */
export function advanceEpoch(
  input: EpochInput,
  initSecret: Uint8Array,
  commitSecret: Uint8Array,
  pskSecret: Uint8Array,
): EpochState & { readonly joinerSecret: Uint8Array } {
  const { suite, context } = input;
  const contextBytes = encodeContext(context);
  const joinerSecret = deriveJoinerSecret(suite, initSecret, commitSecret, contextBytes);
  const secrets = deriveEpoch(suite, joinerSecret, pskSecret, contextBytes);
  return { ...startEpoch(input, secrets), joinerSecret };
}
