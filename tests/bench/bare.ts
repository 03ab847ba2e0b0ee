/**
 * The floor: libsodium's primitives and the random bytes for one application message and nothing else, exactly as many and as
 * long as RFC 9420 needs them. What a library adds to it is its own cost.
 */
import sodium from 'libsodium-wrappers';
import type { Lane } from './lane.ts';
import { AUTHENTICATED_DATA, GROUP_ID } from './message.ts';

/** Bytes of opaque<V> (section 2.1.2). */
function opaqueLength(bytes: number): number {
  if (bytes < 0x40) return 1 + bytes;
  return bytes < 0x4000 ? 2 + bytes : 4 + bytes;
}

/** SignContent (section 5.1.2) over FramedContentTBS (section 6.1), which holds the GroupContext (section 8.1). */
function signContentLength(bytes: number): number {
  const groupId = opaqueLength(GROUP_ID.length);
  const groupContext = 2 + 2 + groupId + 8 + 33 + 33 + 1;
  const framedContent =
    groupId + 8 + (1 + 4) + opaqueLength(AUTHENTICATED_DATA.length) + 1 + opaqueLength(bytes);
  return opaqueLength('MLS 1.0 FramedContentTBS'.length) + opaqueLength(2 + 2 + framedContent + groupContext);
}

/** PrivateMessageContent (section 6.3.1), padded to a multiple of 16. */
function contentLength(bytes: number): number {
  return Math.ceil((opaqueLength(bytes) + opaqueLength(64)) / 16) * 16;
}

const SENDER_DATA_AAD_LENGTH = 1 + GROUP_ID.length + 8 + 1;
const CONTENT_AAD_LENGTH = SENDER_DATA_AAD_LENGTH + 1 + AUTHENTICATED_DATA.length;
const SENDER_DATA_LENGTH = 12;
/** Random bytes that section 6.3.1 asks for with each message, so that no nonce is used twice. */
const REUSE_GUARD_LENGTH = 4;

/** KDFLabel (section 8) and the block number: what one HKDF-Expand of a block feeds to HMAC. */
function kdfLabelLength(label: string, contextLength: number): number {
  return 2 + 1 + `MLS 1.0 ${label}`.length + 1 + contextLength + 1;
}

/** Ratchet key, nonce and next secret (section 9.1), sender data key and nonce (section 6.3.2). */
const HMAC_INPUTS = [
  kdfLabelLength('key', 4),
  kdfLabelLength('nonce', 4),
  kdfLabelLength('secret', 4),
  kdfLabelLength('key', 32),
  kdfLabelLength('nonce', 32),
].map(filled);

/** To be called once libsodium is ready. */
export function bareLane(plaintext: Uint8Array): Lane {
  const { publicKey, privateKey } = sodium.crypto_sign_seed_keypair(filled(32));
  const secret = filled(32);
  const key = filled(32);
  const nonce = filled(12);
  const toSign = filled(signContentLength(plaintext.length));
  const content = filled(contentLength(plaintext.length));
  const contentAad = filled(CONTENT_AAD_LENGTH);
  const senderData = filled(SENDER_DATA_LENGTH);
  const senderDataAad = filled(SENDER_DATA_AAD_LENGTH);

  function derive(): void {
    for (const input of HMAC_INPUTS) sodium.crypto_auth_hmacsha256(input, secret);
  }
  function seal(plaintext: Uint8Array, aad: Uint8Array): Uint8Array {
    return sodium.crypto_aead_chacha20poly1305_ietf_encrypt(plaintext, aad, null, nonce, key);
  }
  function open(ciphertext: Uint8Array, aad: Uint8Array): void {
    sodium.crypto_aead_chacha20poly1305_ietf_decrypt(null, ciphertext, aad, nonce, key);
  }
  const signature = sodium.crypto_sign_detached(toSign, privateKey);
  const sealedContent = seal(content, contentAad);
  const sealedSenderData = seal(senderData, senderDataAad);
  let pending = 0;

  return {
    contender: { library: 'bare libsodium', suite: null, members: null },
    async send(count) {
      for (let i = 0; i < count; i++) {
        sodium.crypto_sign_detached(toSign, privateKey);
        derive();
        crypto.getRandomValues(new Uint8Array(REUSE_GUARD_LENGTH));
        seal(content, contentAad);
        seal(senderData, senderDataAad);
      }
      pending = count;
      return null;
    },
    async receive() {
      for (let i = 0; i < pending; i++) {
        derive();
        open(sealedSenderData, senderDataAad);
        open(sealedContent, contentAad);
        if (!sodium.crypto_sign_verify_detached(signature, toSign, publicKey))
          throw new Error('bad signature');
      }
      return null;
    },
  };
}

function filled(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 151 + 7) & 0xff);
}
