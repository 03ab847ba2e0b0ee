/** Encrypted messages (RFC 9420 section 6.3). */
import { octetAt, wipe } from '../bytes.ts';
import type { Limits } from '../codec/limits.ts';
import { decode, Reader } from '../codec/reader.ts';
import { encode, type Writer, withEncoded } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import type { RatchetType, SecretTree } from '../schedule/secretTree.ts';
import {
  type AuthenticatedContent,
  type Content,
  type ContentType,
  expectedLength,
  type FramedContent,
  type FramedContentAuthData,
  readContent,
  readFramedContentAuthData,
  writeContent,
  writeFramedContentAuthData,
} from '../structs/framedContent.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import type { LeafIndex } from '../structs/indices.ts';
import {
  type PrivateMessage,
  readSenderData,
  type SenderData,
  writePrivateContentAAD,
  writeSenderData,
  writeSenderDataAAD,
} from '../structs/privateMessage.ts';
import { expandWithLabel } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';
import {
  assertSameEpoch,
  type SignatureKeyOf,
  type VerifiedContent,
  verifyFramedContent,
} from './contentAuth.ts';
import { type PadTo, paddedLength } from './padding.ts';

export interface PrivateMessageKeys {
  readonly groupContext: GroupContext;
  readonly senderDataSecret: Uint8Array;
  /** The source of single-use keys: the secret tree, or functions of the caller in front of it. */
  readonly secretTree: Pick<SecretTree, 'nextKey' | 'openKey'>;
}

/** Decrypted and verified content, with its generation in the sender's ratchet. */
export interface Unprotected {
  readonly content: VerifiedContent;
  readonly generation: number;
}

const REUSE_GUARD_LENGTH = 4;

/**
 * Encrypts content that a member signed for the wire format 'private-message', padded to a Padmé size. It uses up a
 * generation of the sender's ratchet: the tree's changes must be stored before the message is let out.
 * @throws CryptoError 'usage' for another sender or wire format, or less than no padding, 'key-exhausted'
 */
export function protectPrivateMessage(
  suite: CipherSuite,
  { wireFormat, content: framed, auth }: AuthenticatedContent,
  { senderDataSecret, secretTree }: PrivateMessageKeys,
  env: Env,
  padTo: PadTo = paddedLength,
): PrivateMessage {
  if (wireFormat !== 'private-message' || framed.sender.type !== 'member') {
    throw new CryptoError('usage', `${framed.sender.type} as a private message`);
  }
  const { groupId, epoch, authenticatedData } = framed;
  const contentType = framed.content.type;
  const header = { groupId, epoch, contentType, authenticatedData };
  const { leafIndex } = framed.sender;

  const { generation, key, nonce } = secretTree.nextKey(leafIndex, ratchetOf(contentType));
  const reuseGuard = env.random(REUSE_GUARD_LENGTH);
  applyReuseGuard(nonce, reuseGuard);
  const aad = encode(header, writePrivateContentAAD);
  const ciphertext = withEncoded(
    { content: framed.content, auth, padTo },
    writePrivateMessageContent,
    (plaintext) => suite.aead.seal(key, nonce, aad, plaintext),
    // Padding adds an eighth at most, unless the application pads otherwise.
    Math.ceil(1.125 * expectedLength(framed)),
  );
  wipe(key, nonce);

  const senderData = encode({ leafIndex, generation, reuseGuard }, writeSenderData);
  const sealing = senderDataKey(suite, senderDataSecret, ciphertext);
  const senderDataAad = encode(header, writeSenderDataAAD);
  const encryptedSenderData = suite.aead.seal(sealing.key, sealing.nonce, senderDataAad, senderData);
  return { ...header, encryptedSenderData, ciphertext };
}

/**
 * Decrypts and verifies. The tree moves only when everything held; a message that fails leaves it as it was. A
 * commit's confirmation tag is checked later, by the code that computes the next epoch.
 * FRAME-06 (section 6.3.1): the padding is all zero.
 * The keys see to it that the sender's leaf isn't blank, and that each key opens one message.
 * @param ownLeaf our own leaf, whose messages are refused; null to accept every sender's
 * @throws CryptoError 'wrong-group', 'wrong-epoch', 'decrypt-failed', 'own-message', 'replayed',
 *   'generation-too-far', 'missing-key', 'malformed', 'bad-signature', or whatever `signatureKeyOf` throws
 */
export function unprotectPrivateMessage(
  suite: CipherSuite,
  message: PrivateMessage,
  { groupContext, senderDataSecret, secretTree }: PrivateMessageKeys,
  signatureKeyOf: SignatureKeyOf,
  ownLeaf: LeafIndex | null,
  limits?: Limits,
): Unprotected {
  assertSameEpoch(message, groupContext);
  const { leafIndex, generation, reuseGuard } = openSenderData(suite, senderDataSecret, message);
  if (leafIndex === ownLeaf) throw new CryptoError('own-message');

  const tentative = secretTree.openKey(leafIndex, ratchetOf(message.contentType), generation);
  const nonce = tentative.nonce.slice();
  applyReuseGuard(nonce, reuseGuard);
  const aad = encode(message, writePrivateContentAAD);
  const plaintext = suite.aead.open(tentative.key, nonce, aad, message.ciphertext);

  const { content, auth } = decodePrivateMessageContent(plaintext, message.contentType, limits);
  const framed: FramedContent = {
    groupId: message.groupId,
    epoch: message.epoch,
    sender: { type: 'member', leafIndex },
    authenticatedData: message.authenticatedData,
    content,
  };
  const authenticated = { wireFormat: 'private-message', content: framed, auth } as const;
  const verified = verifyFramedContent(suite, authenticated, groupContext, signatureKeyOf(framed));
  tentative.accept();
  wipe(tentative.key, tentative.nonce);
  return { content: verified, generation };
}

/**
 * Derives the AEAD key and nonce of the sender data, bound to a sample of the ciphertext (RFC 9420 section 6.3.2).
 */
export function senderDataKey(
  suite: CipherSuite,
  senderDataSecret: Uint8Array,
  ciphertext: Uint8Array,
): { key: Uint8Array; nonce: Uint8Array } {
  const sample = ciphertext.subarray(0, suite.kdf.Nh);
  return {
    key: expandWithLabel(suite, senderDataSecret, 'key', sample, suite.aead.Nk),
    nonce: expandWithLabel(suite, senderDataSecret, 'nonce', sample, suite.aead.Nn),
  };
}

function openSenderData(
  suite: CipherSuite,
  senderDataSecret: Uint8Array,
  message: PrivateMessage,
): SenderData {
  const { key, nonce } = senderDataKey(suite, senderDataSecret, message.ciphertext);
  const aad = encode(message, writeSenderDataAAD);
  return decode(suite.aead.open(key, nonce, aad, message.encryptedSenderData), readSenderData);
}

/** PrivateMessageContent (section 6.3.1), the whole of a writer's bytes: its padding depends on their number. */
function writePrivateMessageContent(
  writer: Writer,
  {
    content,
    auth,
    padTo,
  }: { readonly content: Content; readonly auth: FramedContentAuthData; readonly padTo: PadTo },
): void {
  writeContent(writer, content);
  writeFramedContentAuthData(writer, auth);
  const padding = padTo(writer.length) - writer.length;
  if (!Number.isSafeInteger(padding) || padding < 0)
    throw new CryptoError('usage', `padding of ${padding} bytes`);
  writer.zeros(padding);
}

function decodePrivateMessageContent(
  plaintext: Uint8Array,
  type: ContentType,
  limits: Limits | undefined,
): { content: Content; auth: FramedContentAuthData } {
  const reader = new Reader(plaintext, limits);
  const content = readContent(reader, type);
  const auth = readFramedContentAuthData(reader, type);
  // Padding that could hold anything would be a covert channel (section 6.3.1).
  reader.zeros('FRAME-06: padding that is not zero');
  return { content, auth };
}

function ratchetOf(contentType: ContentType): RatchetType {
  return contentType === 'application' ? 'application' : 'handshake';
}

function applyReuseGuard(nonce: Uint8Array, reuseGuard: Uint8Array): void {
  for (let i = 0; i < REUSE_GUARD_LENGTH; i++) nonce[i] = octetAt(nonce, i) ^ octetAt(reuseGuard, i);
}
