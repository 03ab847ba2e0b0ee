/** The keys that verify a message's signature and that open the message (RFC 9420 section 6.1). */
import { NO_LIMITS } from '../codec/limits.ts';
import { decode } from '../codec/reader.ts';
import { CryptoError } from '../errors.ts';
import type { PrivateMessageKeys } from '../framing/privateMessage.ts';
import type { PublicMessageKeys } from '../framing/publicMessage.ts';
import type { RatchetWindow } from '../schedule/ratchet.ts';
import { ExtensionTypeValue, findExtension } from '../structs/extension.ts';
import { readExternalSenders } from '../structs/externalSender.ts';
import type { FramedContent } from '../structs/framedContent.ts';
import type { LeafIndex } from '../structs/indices.ts';
import type { LeafNode } from '../structs/leafNode.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import type { Group } from './state.ts';

/**
 * FRAME-07 (section 6.3.2): the sender's leaf is not blank.
 * @throws CryptoError 'unknown-sender'
 */
export function senderLeaf(tree: RatchetTree, index: LeafIndex): LeafNode {
  const leaf = index < tree.leafCount ? tree.leaf(index) : null;
  if (leaf === null) throw new CryptoError('unknown-sender', `FRAME-07: leaf ${index}`);
  return leaf;
}

function externalSenderKey(group: Group, senderIndex: number): Uint8Array {
  const data = findExtension(group.context.extensions, ExtensionTypeValue.externalSenders);
  const sender = data === undefined ? undefined : decode(data, readExternalSenders, NO_LIMITS)[senderIndex];
  if (sender === undefined) throw new CryptoError('unknown-sender', `external sender ${senderIndex}`);
  return sender.signatureKey;
}

/**
 * The signature key that a message of this epoch has to hold under.
 * @throws CryptoError 'unknown-sender', or 'invalid-commit' for an external commit without a path (EXT-05)
 */
export function signatureKeyIn(group: Group): (framed: FramedContent) => Uint8Array {
  return ({ sender, content }) => {
    if (sender.type === 'member') return senderLeaf(group.tree, sender.leafIndex).signatureKey;
    if (sender.type === 'external') return externalSenderKey(group, sender.senderIndex);
    if (content.type === 'commit') {
      if (content.commit.path === null) throw new CryptoError('invalid-commit', 'EXT-05: no path');
      return content.commit.path.leafNode.signatureKey;
    }
    if (content.type === 'proposal' && content.proposal.type === 'add') {
      return content.proposal.keyPackage.leafNode.signatureKey;
    }
    throw new CryptoError('unknown-sender', `${sender.type} with ${content.type}`);
  };
}

export function publicKeysOf(group: Group): PublicMessageKeys {
  return { groupContext: group.context, membershipKey: group.secrets.membershipKey };
}

/** Gives the keys for private messages. Opening a message uses up its key. */
export function privateKeysOf(group: Group, window?: RatchetWindow): PrivateMessageKeys {
  const { secretTree, context, secrets } = group;
  return {
    groupContext: context,
    senderDataSecret: secrets.senderDataSecret,
    secretTree: {
      nextKey: (leaf, type) => secretTree.nextKey(leaf, type),
      openKey: (leaf, type, generation) => {
        senderLeaf(group.tree, leaf);
        return secretTree.openKey(leaf, type, generation, window);
      },
    },
  };
}

/**
 * Gives the keys for commits. A commit's key is looked up but not used up: a commit that proves invalid leaves no
 * trace, and a valid one ends the epoch with all its keys.
 */
export function tentativeKeysOf(group: Group): PrivateMessageKeys {
  const keys = privateKeysOf(group);
  return {
    ...keys,
    secretTree: {
      nextKey: keys.secretTree.nextKey,
      openKey: (leaf, type, generation) => {
        const found = keys.secretTree.openKey(leaf, type, generation);
        // The opener gets copies, because it wipes them, while a skipped key stays in the ratchet.
        return { generation, key: found.key.slice(), nonce: found.nonce.slice(), accept: () => undefined };
      },
    },
  };
}
