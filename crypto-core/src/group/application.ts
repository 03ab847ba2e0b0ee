/** Application messages (RFC 9420 section 15). No cost of theirs grows with the number of members. */
import type { Limits } from '../codec/limits.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { ownContent, signFramedContent } from '../framing/contentAuth.ts';
import type { PadTo } from '../framing/padding.ts';
import { protectPrivateMessage, unprotectPrivateMessage } from '../framing/privateMessage.ts';
import { exportFrom } from '../schedule/keySchedule.ts';
import type { RatchetWindow } from '../schedule/ratchet.ts';
import type { Credential } from '../structs/credential.ts';
import type { ContentType, FramedContent } from '../structs/framedContent.ts';
import type { LeafIndex } from '../structs/indices.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../structs/mlsMessage.ts';
import type { WireFormat } from '../structs/wireFormat.ts';
import { checkAuthenticatedData, ownAuthenticatedData } from './components.ts';
import { privateKeysOf, signatureKeyIn } from './senders.ts';
import { assertActive, type Group, memberLeaf } from './state.ts';

/**
 * Encrypts an application message (RFC 9420 sections 6.3 and 15), padded to a Padmé size or by `padTo`. It uses up a key: store
 * `group.secretTree.takeChanges()` before the message leaves.
 * @returns MLSMessage(PrivateMessage)
 * @throws CryptoError 'removed', 'unsupported', 'key-exhausted', 'missing-key' where the secret tree's record is gone, 'usage' for less than
 * no padding, or authenticated data that is no SafeAAD in a group with safe_aad
 */
export function encryptApplication(
  group: Group,
  plaintext: Uint8Array,
  authenticatedData: Uint8Array,
  env: Env,
  { padTo }: { readonly padTo?: PadTo } = {},
): Uint8Array {
  assertActive(group);
  const { suite, context, ownLeaf, signaturePrivateKey } = group;
  ownAuthenticatedData(context, authenticatedData);
  const framed: FramedContent = {
    groupId: context.groupId,
    epoch: context.epoch,
    sender: { type: 'member', leafIndex: ownLeaf },
    authenticatedData,
    content: { type: 'application', data: plaintext },
  };
  const signature = signFramedContent(suite, 'private-message', framed, context, signaturePrivateKey);
  const content = ownContent('private-message', framed, { signature, confirmationTag: null });
  const privateMessage = protectPrivateMessage(suite, content, privateKeysOf(group), env, padTo);
  return encodeMlsMessage({ wireFormat: 'private-message', privateMessage });
}

export interface DecryptedMessage {
  readonly plaintext: Uint8Array;
  readonly authenticatedData: Uint8Array;
  readonly sender: { readonly leafIndex: LeafIndex; readonly credential: Credential };
  /** The generation in the sender's application ratchet. It identifies the message, with the sender and the epoch. */
  readonly generation: number;
}

/**
 * Decrypts an application message of another member (RFC 9420 sections 6.3 and 15). Success uses up its key: store
 * `group.secretTree.takeChanges()` together with the plaintext. A message that is refused changes nothing.
 * @throws CryptoError 'malformed', 'unsupported', 'wrong-group', 'wrong-epoch', 'decrypt-failed', 'unknown-sender',
 * 'own-message', 'replayed', 'generation-too-far', 'key-exhausted', 'bad-signature', 'removed', 'missing-key' where the secret tree's
 * record is gone, 'usage' for a window of no size
 * @param window how far messages may come out of order; by default 1,000 ahead, and 64 behind
 */
export function decryptApplication(
  group: Group,
  bytes: Uint8Array,
  { window }: { readonly window?: RatchetWindow } = {},
): DecryptedMessage {
  assertActive(group);
  const message = decodeMlsMessage(bytes);
  if (message.wireFormat !== 'private-message' || message.privateMessage.contentType !== 'application') {
    throw new CryptoError('malformed', 'not an application message');
  }
  checkAuthenticatedData(group.context, message.privateMessage);
  const { content, generation } = unprotectPrivateMessage(
    group.suite,
    message.privateMessage,
    privateKeysOf(group, window),
    signatureKeyIn(group),
    group.ownLeaf,
  );
  const { sender, content: body, authenticatedData } = content.content;
  if (body.type !== 'application' || sender.type !== 'member') {
    throw new CryptoError('malformed', 'not an application message');
  }
  const { leafIndex } = sender;
  const { credential } = memberLeaf(group.tree, leafIndex);
  return {
    plaintext: body.data,
    authenticatedData: authenticatedData.slice(),
    sender: { leafIndex, credential },
    generation,
  };
}

export type PeekedMessage =
  | {
      readonly wireFormat: Extract<WireFormat, 'public-message' | 'private-message'>;
      readonly groupId: Uint8Array;
      readonly epoch: bigint;
      readonly contentType: ContentType;
      /** Data of the application's that everybody can read. */
      readonly authenticatedData: Uint8Array;
    }
  | { readonly wireFormat: Exclude<WireFormat, 'public-message' | 'private-message'> };

/**
 * Reads from a message (RFC 9420 section 6), unverified, the fields that tell which group and epoch it belongs to, and what goes
 * with it in the open.
 * @throws CryptoError 'malformed', 'unsupported'
 */
export function peekMessage(bytes: Uint8Array, limits?: Limits): PeekedMessage {
  const message = decodeMlsMessage(bytes, limits);
  if (message.wireFormat === 'private-message') {
    const { groupId, epoch, contentType, authenticatedData } = message.privateMessage;
    return { wireFormat: message.wireFormat, groupId, epoch, contentType, authenticatedData };
  }
  if (message.wireFormat === 'public-message') {
    const { groupId, epoch, content, authenticatedData } = message.publicMessage.content;
    return { wireFormat: message.wireFormat, groupId, epoch, contentType: content.type, authenticatedData };
  }
  return { wireFormat: message.wireFormat };
}

/**
 * Derives a secret of this epoch that only its members can compute: MLS-Exporter (RFC 9420 section 8.5).
 * @param length in bytes, from 1 to 255 times Nh: 8,160
 * @throws CryptoError 'usage' for another length, 'removed', 'unsupported'
 */
export function exportSecret(group: Group, label: string, context: Uint8Array, length: number): Uint8Array {
  assertActive(group);
  if (!Number.isInteger(length) || length < 1 || length > 255 * group.suite.kdf.Nh) {
    throw new CryptoError('usage', `an exported secret of ${length} bytes`);
  }
  return exportFrom(group.suite, group.secrets.exporterSecret, label, context, length);
}
