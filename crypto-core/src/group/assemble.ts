/** The part of making a commit (RFC 9420 section 12.4.1) that members and external joiners share. */
import { wipe } from '../bytes.ts';
import type { Env } from '../env.ts';
import { ownContent, signFramedContent, type VerifiedContent } from '../framing/contentAuth.ts';
import { confirmedTranscriptHash } from '../schedule/transcript.ts';
import type { Commit, ProposalOrRef } from '../structs/commit.ts';
import type { Extension } from '../structs/extension.ts';
import type { FramedContent, Sender } from '../structs/framedContent.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import type { LeafIndex } from '../structs/indices.ts';
import type { LeafNodeContent } from '../structs/leafNode.ts';
import type { WireFormat } from '../structs/wireFormat.ts';
import type { CipherSuite } from '../suite/suites.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import { rootHash } from '../tree/treeHash.ts';
import { createPath, encryptPath, type NewPath } from '../tree/treekem.ts';
import { advanceEpoch, type EpochState } from './epoch.ts';
import { signLeaf } from './ownLeaf.ts';
import { encodeContext, nextEpoch } from './state.ts';

export interface CommitInput {
  readonly suite: CipherSuite;
  readonly context: GroupContext;
  readonly interimTranscriptHash: Uint8Array;
  readonly initSecret: Uint8Array;
  readonly pskSecret: Uint8Array;
  /** The tree with the proposals applied. It is changed here and becomes the tree of the new epoch. */
  readonly tree: RatchetTree;
  /** The GroupContext extensions of the new epoch. */
  readonly extensions: readonly Extension[];
  readonly proposals: readonly ProposalOrRef[];
  /** Leaves added by the proposals. */
  readonly added: ReadonlySet<LeafIndex>;
  readonly sender: Sender;
  readonly leafIndex: LeafIndex;
  /** The fields that the committer's new leaf keeps. */
  readonly leaf: Omit<LeafNodeContent, 'encryptionKey' | 'source'>;
  readonly signaturePrivateKey: Uint8Array;
  readonly withPath: boolean;
  readonly wireFormat: Extract<WireFormat, 'public-message' | 'private-message'>;
  readonly authenticatedData: Uint8Array;
}

export interface AssembledCommit {
  readonly content: VerifiedContent;
  readonly path: NewPath | null;
  /** The GroupContext of the new epoch. */
  readonly context: GroupContext;
  readonly epoch: EpochState;
  readonly joinerSecret: Uint8Array;
}

function makePath(input: CommitInput, env: Env): NewPath {
  const { suite, tree, leafIndex, leaf, context, signaturePrivateKey } = input;
  const position = { groupId: context.groupId, leafIndex };
  return createPath(
    suite,
    tree,
    leafIndex,
    (encryptionKey, parentHash) =>
      signLeaf(
        suite,
        { ...leaf, encryptionKey, source: { type: 'commit', parentHash } },
        position,
        signaturePrivateKey,
      ),
    env,
  );
}

/** Makes the commit and the epoch that it starts; `checkTreeLeaves` has to check the tree afterwards. */
export function assembleCommit(input: CommitInput, env: Env): AssembledCommit {
  const { suite, tree, sender, wireFormat } = input;
  const path = input.withPath ? makePath(input, env) : null;
  const provisional: GroupContext = {
    ...input.context,
    epoch: nextEpoch(input.context),
    treeHash: rootHash(suite, tree),
    extensions: input.extensions,
  };
  const commit: Commit = {
    proposals: input.proposals,
    path: path && encryptPath(suite, tree, path, encodeContext(provisional), input.added, env),
  };
  const framed: FramedContent = {
    groupId: input.context.groupId,
    epoch: input.context.epoch,
    sender,
    authenticatedData: input.authenticatedData,
    content: { type: 'commit', commit },
  };
  const signature = signFramedContent(suite, wireFormat, framed, input.context, input.signaturePrivateKey);
  const context: GroupContext = {
    ...provisional,
    confirmedTranscriptHash: confirmedTranscriptHash(suite, input.interimTranscriptHash, {
      wireFormat,
      content: framed,
      signature,
    }),
  };
  const commitSecret = path?.commitSecret ?? new Uint8Array(suite.kdf.Nh);
  const { joinerSecret, ...epoch } = advanceEpoch(
    { suite, context, leafCount: tree.leafCount },
    input.initSecret,
    commitSecret,
    input.pskSecret,
  );
  wipe(commitSecret);
  const auth = { signature, confirmationTag: epoch.confirmationTag };
  return { content: ownContent(wireFormat, framed, auth), path, context, epoch, joinerSecret };
}
