import { beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import { decode } from '../../src/codec/reader.ts';
import { encode } from '../../src/codec/writer.ts';
import {
  deriveEpoch,
  deriveJoinerSecret,
  deriveWelcomeSecret,
  exportFrom,
  externalKeyPair,
  receiveExternalInit,
  sendExternalInit,
} from '../../src/schedule/keySchedule.ts';
import { derivePskSecret } from '../../src/schedule/psk.ts';
import {
  confirmationTag,
  confirmedTranscriptHash,
  interimTranscriptHash,
} from '../../src/schedule/transcript.ts';
import { readFramedContent, readFramedContentAuthData } from '../../src/structs/framedContent.ts';
import { writeGroupContext } from '../../src/structs/groupContext.ts';
import { WireFormatValue } from '../../src/structs/wireFormat.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { testEnv } from '../testEnv.ts';
import { fromHex, mlsVectors } from './vectors.ts';

interface EpochVector
  extends Record<
    | 'tree_hash'
    | 'commit_secret'
    | 'psk_secret'
    | 'confirmed_transcript_hash'
    | 'group_context'
    | 'joiner_secret'
    | 'welcome_secret'
    | 'init_secret'
    | 'sender_data_secret'
    | 'encryption_secret'
    | 'exporter_secret'
    | 'epoch_authenticator'
    | 'external_secret'
    | 'confirmation_key'
    | 'membership_key'
    | 'resumption_psk'
    | 'external_pub',
    string
  > {
  exporter: { label: string; context: string; length: number; secret: string };
}

interface KeyScheduleVector {
  cipher_suite: number;
  group_id: string;
  initial_init_secret: string;
  epochs: EpochVector[];
}

interface PskVector {
  cipher_suite: number;
  psks: { psk_id: string; psk: string; psk_nonce: string }[];
  psk_secret: string;
}

interface TranscriptVector {
  cipher_suite: number;
  confirmation_key: string;
  authenticated_content: string;
  interim_transcript_hash_before: string;
  confirmed_transcript_hash_after: string;
  interim_transcript_hash_after: string;
}

beforeAll(ready);

describe.each(mlsVectors<KeyScheduleVector>('key-schedule'))('key-schedule', (vector) => {
  const suite = getSuite(vector.cipher_suite);

  it(`derives ${vector.epochs.length} epochs`, () => {
    expect(vector.epochs.length).toBeGreaterThan(0);
    let initSecret: Uint8Array = fromHex(vector.initial_init_secret);
    vector.epochs.forEach((epoch, number) => {
      const groupContext = encode(
        {
          cipherSuite: suite.id,
          groupId: fromHex(vector.group_id),
          epoch: BigInt(number),
          treeHash: fromHex(epoch.tree_hash),
          confirmedTranscriptHash: fromHex(epoch.confirmed_transcript_hash),
          extensions: [],
        },
        writeGroupContext,
      );
      const pskSecret = fromHex(epoch.psk_secret);
      const joinerSecret = deriveJoinerSecret(suite, initSecret, fromHex(epoch.commit_secret), groupContext);
      const secrets = deriveEpoch(suite, joinerSecret, pskSecret, groupContext);
      const { label, context, length } = epoch.exporter;
      expect({
        group_context: toHex(groupContext),
        joiner_secret: toHex(joinerSecret),
        welcome_secret: toHex(deriveWelcomeSecret(suite, joinerSecret, pskSecret)),
        init_secret: toHex(secrets.initSecret),
        sender_data_secret: toHex(secrets.senderDataSecret),
        encryption_secret: toHex(secrets.encryptionSecret),
        exporter_secret: toHex(secrets.exporterSecret),
        epoch_authenticator: toHex(secrets.epochAuthenticator),
        external_secret: toHex(secrets.externalSecret),
        confirmation_key: toHex(secrets.confirmationKey),
        membership_key: toHex(secrets.membershipKey),
        resumption_psk: toHex(secrets.resumptionPsk),
        external_pub: toHex(externalKeyPair(suite, secrets.externalSecret).publicKey),
        exported: toHex(exportFrom(suite, secrets.exporterSecret, label, fromHex(context), length)),
      }).toEqual({
        group_context: epoch.group_context,
        joiner_secret: epoch.joiner_secret,
        welcome_secret: epoch.welcome_secret,
        init_secret: epoch.init_secret,
        sender_data_secret: epoch.sender_data_secret,
        encryption_secret: epoch.encryption_secret,
        exporter_secret: epoch.exporter_secret,
        epoch_authenticator: epoch.epoch_authenticator,
        external_secret: epoch.external_secret,
        confirmation_key: epoch.confirmation_key,
        membership_key: epoch.membership_key,
        resumption_psk: epoch.resumption_psk,
        external_pub: epoch.external_pub,
        exported: epoch.exporter.secret,
      });
      initSecret = secrets.initSecret;
    });
  });
});

describe.each(mlsVectors<PskVector>('psk_secret'))('psk_secret of $psks.length PSKs', (vector) => {
  it('chains the PSKs to the published secret', () => {
    const psks = vector.psks.map(({ psk_id, psk, psk_nonce }) => ({
      id: { type: 'external', pskId: fromHex(psk_id), nonce: fromHex(psk_nonce) } as const,
      secret: fromHex(psk),
    }));
    expect(toHex(derivePskSecret(getSuite(vector.cipher_suite), psks))).toBe(vector.psk_secret);
  });
});

describe.each(mlsVectors<TranscriptVector>('transcript-hashes'))('transcript-hashes', (vector) => {
  const suite = getSuite(vector.cipher_suite);
  const commit = decode(fromHex(vector.authenticated_content), (reader) => {
    const wireFormat = reader.u16();
    const content = readFramedContent(reader);
    const auth = readFramedContentAuthData(reader, content.content.type);
    return { wireFormat, content, auth };
  });

  it('computes the published hashes and confirmation tag', () => {
    const wireFormat =
      commit.wireFormat === WireFormatValue['public-message'] ? 'public-message' : 'private-message';
    expect(commit.wireFormat).toBe(WireFormatValue[wireFormat]);
    const confirmed = confirmedTranscriptHash(suite, fromHex(vector.interim_transcript_hash_before), {
      wireFormat,
      content: commit.content,
      signature: commit.auth.signature,
    });
    const tag = commit.auth.confirmationTag!;
    expect(toHex(confirmed)).toBe(vector.confirmed_transcript_hash_after);
    expect(toHex(interimTranscriptHash(suite, confirmed, tag))).toBe(vector.interim_transcript_hash_after);
    const key = fromHex(vector.confirmation_key);
    expect(toHex(confirmationTag(suite, key, confirmed))).toBe(toHex(tag));
    expect(toHex(confirmationTag(suite, key.fill(0), confirmed))).not.toBe(toHex(tag));
  });
});

describe.each([0x0003, 0x004d, 0xf04d])('external initialization, suite %i', (id) => {
  it('gives both sides one init secret', () => {
    const suite = getSuite(id);
    const env = testEnv('external init');
    const group = externalKeyPair(suite, env.random(32));
    const sent = sendExternalInit(suite, group.publicKey, env);
    const received = receiveExternalInit(suite, group.privateKey, sent.kemOutput);
    expect(toHex(received)).toBe(toHex(sent.initSecret));
    const other = externalKeyPair(suite, env.random(32));
    expect(toHex(receiveExternalInit(suite, other.privateKey, sent.kemOutput))).not.toBe(toHex(received));
  });
});
