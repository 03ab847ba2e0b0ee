import { beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import { decode } from '../../src/codec/reader.ts';
import { encode } from '../../src/codec/writer.ts';
import { ownContent, signFramedContent } from '../../src/framing/contentAuth.ts';
import { protectPrivateMessage, unprotectPrivateMessage } from '../../src/framing/privateMessage.ts';
import { protectPublicMessage, unprotectPublicMessage } from '../../src/framing/publicMessage.ts';
import { SecretTree } from '../../src/schedule/secretTree.ts';
import {
  type Content,
  type ContentType,
  type FramedContent,
  readContent,
  writeContent,
} from '../../src/structs/framedContent.ts';
import type { GroupContext } from '../../src/structs/groupContext.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { WireFormat } from '../../src/structs/wireFormat.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { testEnv } from '../testEnv.ts';
import { fromHex, mlsVectors } from './vectors.ts';

type Vector = { cipher_suite: number; epoch: number } & Record<
  | 'group_id'
  | 'tree_hash'
  | 'confirmed_transcript_hash'
  | 'signature_priv'
  | 'signature_pub'
  | 'encryption_secret'
  | 'sender_data_secret'
  | 'membership_key'
  | 'proposal'
  | 'proposal_priv'
  | 'proposal_pub'
  | 'commit'
  | 'commit_priv'
  | 'commit_pub'
  | 'application'
  | 'application_priv',
  string
>;

beforeAll(ready);

describe.each(mlsVectors<Vector>('message-protection'))('message-protection', (vector) => {
  const suite = getSuite(vector.cipher_suite);
  const groupContext: GroupContext = {
    cipherSuite: vector.cipher_suite,
    groupId: fromHex(vector.group_id),
    epoch: BigInt(vector.epoch),
    treeHash: fromHex(vector.tree_hash),
    confirmedTranscriptHash: fromHex(vector.confirmed_transcript_hash),
    extensions: [],
  };
  const publicKeys = { groupContext, membershipKey: fromHex(vector.membership_key) };
  const signatureKeyOf = (content: FramedContent) => {
    expect(content.sender).toEqual({ type: 'member', leafIndex: 1 });
    return fromHex(vector.signature_pub);
  };

  function privateKeys() {
    return {
      groupContext,
      senderDataSecret: fromHex(vector.sender_data_secret),
      secretTree: SecretTree.create(suite, 2, fromHex(vector.encryption_secret)),
    };
  }

  /** Writes content as the vectors have it: application data as such, the others as their struct. */
  function rawHex(content: Content): string {
    return content.type === 'application' ? toHex(content.data) : toHex(encode(content, writeContent));
  }

  function contentOf(type: ContentType): Content {
    const bytes = fromHex(vector[type]);
    return type === 'application' ? { type, data: bytes } : decode(bytes, (r) => readContent(r, type));
  }

  function signed(wireFormat: WireFormat, type: ContentType) {
    const content: FramedContent = {
      groupId: groupContext.groupId,
      epoch: groupContext.epoch,
      sender: { type: 'member', leafIndex: toLeafIndex(1) },
      authenticatedData: fromHex('0102'),
      content: contentOf(type),
    };
    const signature = signFramedContent(
      suite,
      wireFormat,
      content,
      groupContext,
      fromHex(vector.signature_priv),
    );
    const confirmationTag = type === 'commit' ? suite.mac(fromHex(vector.membership_key), signature) : null;
    return ownContent(wireFormat, content, { signature, confirmationTag });
  }

  function unprotectPublic(bytes: Uint8Array) {
    const message = decodeMlsMessage(bytes);
    if (message.wireFormat !== 'public-message') throw new Error(message.wireFormat);
    return unprotectPublicMessage(suite, message.publicMessage, publicKeys, signatureKeyOf);
  }

  function unprotectPrivate(bytes: Uint8Array) {
    const message = decodeMlsMessage(bytes);
    if (message.wireFormat !== 'private-message') throw new Error(message.wireFormat);
    return unprotectPrivateMessage(suite, message.privateMessage, privateKeys(), signatureKeyOf, null)
      .content;
  }

  it.each(['proposal', 'commit'] as const)('unprotects the published PublicMessage of a %s', (type) => {
    expect(rawHex(unprotectPublic(fromHex(vector[`${type}_pub`])).content.content)).toBe(vector[type]);
  });

  it.each(['proposal', 'commit', 'application'] as const)(
    'unprotects the published PrivateMessage of a %s',
    (type) => {
      expect(rawHex(unprotectPrivate(fromHex(vector[`${type}_priv`])).content.content)).toBe(vector[type]);
    },
  );

  it.each(['proposal', 'commit'] as const)('protects a %s as a PublicMessage', (type) => {
    const publicMessage = protectPublicMessage(suite, signed('public-message', type), publicKeys);
    const bytes = encodeMlsMessage({ wireFormat: 'public-message', publicMessage });
    expect(rawHex(unprotectPublic(bytes).content.content)).toBe(vector[type]);
  });

  it('never protects application data as a PublicMessage', () => {
    expect(() => protectPublicMessage(suite, signed('public-message', 'application'), publicKeys)).toThrow(
      'usage',
    );
  });

  it.each(['proposal', 'commit', 'application'] as const)('protects a %s as a PrivateMessage', (type) => {
    const privateMessage = protectPrivateMessage(
      suite,
      signed('private-message', type),
      privateKeys(),
      testEnv('protect'),
    );
    const bytes = encodeMlsMessage({ wireFormat: 'private-message', privateMessage });
    expect(rawHex(unprotectPrivate(bytes).content.content)).toBe(vector[type]);
  });
});
