/** Forgeries of a malicious member or joiner: signed, encrypted and wrong. */
import { EMPTY } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import type { Env } from '../../src/env.ts';
import { ownContent, signFramedContent } from '../../src/framing/contentAuth.ts';
import { protectPrivateMessage } from '../../src/framing/privateMessage.ts';
import { assembleCommit } from '../../src/group/assemble.ts';
import type { SignatureKeyPair } from '../../src/group/keyPackage.ts';
import { ownCapabilities, signLeaf } from '../../src/group/ownLeaf.ts';
import {
  applyChanges,
  type ProposedAdd,
  proposedChanges,
  type StoredProposal,
} from '../../src/group/proposalList.ts';
import { privateKeysOf } from '../../src/group/senders.ts';
import { type Group, memberLeaf } from '../../src/group/state.ts';
import type { Commit, ProposalOrRef } from '../../src/structs/commit.ts';
import {
  type Content,
  type FramedContent,
  writeAuthenticatedContent,
} from '../../src/structs/framedContent.ts';
import type { GroupContext } from '../../src/structs/groupContext.ts';
import type { LeafIndex } from '../../src/structs/indices.ts';
import { type KeyPackage, type KeyPackageContent, keyPackageTBS } from '../../src/structs/keyPackage.ts';
import type { LeafNodeContent } from '../../src/structs/leafNode.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import type { UpdatePath } from '../../src/structs/updatePath.ts';
import { makeProposalRef, signWithLabel } from '../../src/suite/labels.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { type Device } from '../scenario/world.ts';

export function flip(bytes: Uint8Array, at = 0): Uint8Array {
  const copy = bytes.slice();
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

export interface KeyPackageForgery {
  readonly leaf?: Partial<LeafNodeContent>;
  readonly package?: Partial<KeyPackageContent>;
  readonly breakLeafSignature?: boolean;
  readonly breakSignature?: boolean;
  readonly initKeyIsEncryptionKey?: boolean;
}

/** Makes an MLSMessage(KeyPackage) that is right but for the forgery. */
export function forgeKeyPackage(
  owner: Device,
  suiteId: number,
  env: Env,
  forgery: KeyPackageForgery,
): Uint8Array {
  const suite = getSuite(suiteId);
  const encryptionKey = suite.kem.generateKeyPair(env).publicKey;
  const now = BigInt(Math.floor(env.now() / 1000));
  const content: LeafNodeContent = {
    encryptionKey,
    signatureKey: owner.signatureKey.publicKey,
    credential: owner.credential,
    capabilities: ownCapabilities(env, owner.leaf),
    source: { type: 'key-package', lifetime: { notBefore: now - 60n, notAfter: now + 60n } },
    extensions: [],
    ...forgery.leaf,
  };
  const { privateKey } = owner.signatureKey;
  const signed = signLeaf(suite, content, { groupId: EMPTY, leafIndex: 0 as never }, privateKey);
  const leafNode = forgery.breakLeafSignature ? { ...signed, signature: flip(signed.signature) } : signed;
  const keyPackage: KeyPackageContent = {
    cipherSuite: suiteId,
    initKey: forgery.initKeyIsEncryptionKey ? encryptionKey : suite.kem.generateKeyPair(env).publicKey,
    leafNode,
    extensions: [],
    ...forgery.package,
  };
  const signature = signWithLabel(suite, privateKey, 'KeyPackageTBS', keyPackageTBS(keyPackage));
  return encodeMlsMessage({
    wireFormat: 'key-package',
    keyPackage: { ...keyPackage, signature: forgery.breakSignature ? flip(signature) : signature },
  });
}

/** Makes a private message of this member, properly signed and encrypted, of any content. */
export function privateMessageOf(
  by: Group,
  content: Content,
  confirmationTag: Uint8Array | null,
  env: Env,
): { bytes: Uint8Array; stored: StoredProposal | null } {
  const framed: FramedContent = {
    groupId: by.context.groupId,
    epoch: by.context.epoch,
    sender: { type: 'member', leafIndex: by.ownLeaf },
    authenticatedData: EMPTY,
    content,
  };
  const { suite, context, signaturePrivateKey } = by;
  const signature = signFramedContent(suite, 'private-message', framed, context, signaturePrivateKey);
  const own = ownContent('private-message', framed, { signature, confirmationTag });
  const privateMessage = protectPrivateMessage(suite, own, privateKeysOf(by), env);
  const ref = makeProposalRef(suite, encode(own, writeAuthenticatedContent));
  return {
    bytes: encodeMlsMessage({ wireFormat: 'private-message', privateMessage }),
    stored:
      content.type === 'proposal'
        ? { ref, epoch: framed.epoch, proposal: content.proposal, sender: framed.sender }
        : null,
  };
}

export interface CommitForgery {
  readonly proposals?: readonly ProposalOrRef[];
  /** Applied to the tree that the path is made for; the list itself may be any. */
  readonly applied?: readonly Proposal[];
  /** The member of an applied Update. */
  readonly updater?: LeafIndex;
  readonly withPath?: boolean;
  /** Fields of the committer's new leaf. */
  readonly leaf?: Partial<Omit<LeafNodeContent, 'encryptionKey' | 'source'>>;
  readonly path?: (honest: UpdatePath) => UpdatePath;
  readonly confirmationTag?: (honest: Uint8Array) => Uint8Array;
}

/** Makes a private commit of `by` that is right but for the forgery. */
export function forgeCommit(by: Group, forgery: CommitForgery, env: Env): Uint8Array {
  const tree = by.tree.clone();
  const sender = { type: 'member', leafIndex: by.ownLeaf } as const;
  const updater = { type: 'member', leafIndex: forgery.updater ?? by.ownLeaf } as const;
  const committed = (forgery.applied ?? []).map((proposal) => ({
    proposal,
    sender: proposal.type === 'update' ? updater : sender,
    ref: null,
  }));
  const changes = proposedChanges(tree, by.context.extensions, committed);
  // A malicious member adds KeyPackages without verifying them.
  const effects = applyChanges(tree, { ...changes, adds: changes.adds as ProposedAdd<KeyPackage>[] });
  const { content } = assembleCommit(
    {
      suite: by.suite,
      context: by.context,
      interimTranscriptHash: by.interimTranscriptHash,
      initSecret: by.secrets.initSecret,
      pskSecret: new Uint8Array(by.suite.kdf.Nh),
      tree,
      extensions: effects.extensions,
      proposals: forgery.proposals ?? [],
      added: new Set(effects.added.map(({ leafIndex }) => leafIndex)),
      sender,
      leafIndex: by.ownLeaf,
      leaf: { ...memberLeaf(by.tree, by.ownLeaf), ...forgery.leaf },
      signaturePrivateKey: by.signaturePrivateKey,
      withPath: forgery.withPath ?? true,
      wireFormat: 'private-message',
      authenticatedData: EMPTY,
    },
    env,
  );
  if (content.content.content.type !== 'commit') throw new Error('not a commit');
  const honest = content.content.content.commit;
  const commit: Commit = {
    ...honest,
    path: honest.path && forgery.path !== undefined ? forgery.path(honest.path) : honest.path,
  };
  const tag = content.auth.confirmationTag ?? EMPTY;
  const confirmationTag = forgery.confirmationTag?.(tag) ?? tag;
  return privateMessageOf(by, { type: 'commit', commit }, confirmationTag, env).bytes;
}

/** Changes an external commit and signs it again, as the joiner could have. */
export function forgeExternal(
  bytes: Uint8Array,
  joiner: SignatureKeyPair,
  context: GroupContext,
  change: (commit: Commit) => Commit,
): Uint8Array {
  const message = decodeMlsMessage(bytes);
  if (message.wireFormat !== 'public-message') throw new Error('not a public message');
  const { publicMessage } = message;
  const { content } = publicMessage.content;
  if (content.type !== 'commit') throw new Error('not a commit');
  const framed: FramedContent = {
    ...publicMessage.content,
    content: { type: 'commit', commit: change(content.commit) },
  };
  const suite = getSuite(context.cipherSuite);
  const signature = signFramedContent(suite, 'public-message', framed, context, joiner.privateKey);
  return encodeMlsMessage({
    wireFormat: 'public-message',
    publicMessage: { content: framed, auth: { ...publicMessage.auth, signature }, membershipTag: null },
  });
}
