import { createHash, createPublicKey, verify } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  isSavedViewOf,
  signDeviceCopied,
  signDeviceSession,
  signDeviceStart,
  signGroupEnding,
  signReplacedCopies,
  signSavedView,
  signSubmittedCommit,
} from '../../src/account/deviceSignatures.ts';
import { publicKeyOf } from '../../src/account/signedStatement.ts';
import { ready } from '../../src/suite/sodium.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('device signatures');
const signatureKey = env.random(32);

beforeAll(ready);

/** Verifies as somebody does who knows nothing but the page of the specification. */
function holds(label: string, content: Buffer, signature: Uint8Array): boolean {
  const opaque = (bytes: Uint8Array) => {
    const { length } = bytes;
    return Buffer.concat([
      length < 64 ? Buffer.of(length) : Buffer.of(0x40 | (length >> 8), length & 255),
      bytes,
    ]);
  };
  const message = Buffer.concat([opaque(Buffer.from(`MLS 1.0 ${label}`)), opaque(content)]);
  const x = Buffer.from(publicKeyOf(signatureKey)).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, message, key, signature);
}

describe('what a device signs for the relay', () => {
  it('is that it takes a session: user, device and session', () => {
    const claims = { userId: 'alice', deviceId: 'laptop', session: 'one' };
    const content = Buffer.from('\u0001\u0005alice\u0006laptop\u0003one', 'latin1');
    const signature = signDeviceSession(signatureKey, claims);
    expect(holds('SinettiDeviceSession', content, signature)).toBe(true);
    for (const other of [{ userId: 'bob' }, { deviceId: 'phone' }, { session: 'two' }]) {
      const signed = signDeviceSession(signatureKey, { ...claims, ...other });
      expect(holds('SinettiDeviceSession', content, signed)).toBe(false);
    }
  });

  it('is a start: user, device, number, tag, and the tags it comes after in a row', () => {
    const [tag, one, other] = ['tag', 'one', 'two'].map((text) => Buffer.from(text)) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    const start = { userId: 'alice', deviceId: 'laptop', number: 258, tag, from: [one, other] };
    const content = Buffer.from(
      '\u0001\u0005alice\u0006laptop\u0000\u0000\u0000\u0000\u0000\u0000\u0001\u0002\u0003tag\u0006onetwo',
      'latin1',
    );
    expect(holds('SinettiDeviceStart', content, signDeviceStart(signatureKey, start))).toBe(true);
    for (const changed of [
      { userId: 'bob' },
      { deviceId: 'phone' },
      { number: 1 },
      { tag: one },
      { from: [one] },
    ]) {
      const signed = signDeviceStart(signatureKey, { ...start, ...changed });
      expect(holds('SinettiDeviceStart', content, signed)).toBe(false);
    }
  });

  it('is that its data is in two places: user and device', () => {
    const device = { userId: 'alice', deviceId: 'laptop' };
    const content = Buffer.from('\u0001\u0005alice\u0006laptop', 'latin1');
    expect(holds('SinettiDeviceCopied', content, signDeviceCopied(signatureKey, device))).toBe(true);
    for (const other of [{ userId: 'bob' }, { deviceId: 'phone' }]) {
      const signed = signDeviceCopied(signatureKey, { ...device, ...other });
      expect(holds('SinettiDeviceCopied', content, signed)).toBe(false);
    }
  });

  it('is copies that take the place of others: user, device, and the id and hash of each', () => {
    const sealed = Buffer.from('sealed');
    const copies = [{ messageId: 'one', sealed }];
    const replaced = { userId: 'alice', deviceId: 'laptop', copies };
    const hash = createHash('sha256').update(sealed).digest();
    const content = Buffer.concat([
      Buffer.from('\u0001\u0005alice\u0006laptop\u0003one\u0020', 'latin1'),
      hash,
    ]);
    expect(holds('SinettiReplacedCopies', content, signReplacedCopies(signatureKey, replaced))).toBe(true);
    for (const other of [{ userId: 'bob' }, { deviceId: 'phone' }, { copies: [] }]) {
      const signed = signReplacedCopies(signatureKey, { ...replaced, ...other });
      expect(holds('SinettiReplacedCopies', content, signed)).toBe(false);
    }
  });

  it('is a commit: conversation, epoch, and the hashes of commit and GroupInfo', () => {
    const submitted = {
      conversationId: 'group:g',
      epoch: 7,
      commit: Buffer.from('commit'),
      groupInfo: Buffer.from('GroupInfo'),
    };
    // SHA-256 of the two words, by another implementation.
    const content = Buffer.concat([
      Buffer.from('\u0001\u0007group:g\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0007\u0020', 'latin1'),
      Buffer.from('9505cacb7c710ed17125fcc6cb3669e8ddca6c8cd8af6a31f6b3cd64604c3098', 'hex'),
      Buffer.of(0x20),
      Buffer.from('d8b7528f9f6bd1353577a2dcaa85f8571e486c629a3e90d05a875da5b12828b4', 'hex'),
    ]);
    const signature = signSubmittedCommit(signatureKey, submitted);
    expect(holds('SinettiSubmittedCommit', content, signature)).toBe(true);
    for (const other of [
      { conversationId: 'group:h' },
      { epoch: 8 },
      { commit: Buffer.from('another') },
      { groupInfo: Buffer.from('another') },
    ]) {
      const signed = signSubmittedCommit(signatureKey, { ...submitted, ...other });
      expect(holds('SinettiSubmittedCommit', content, signed)).toBe(false);
    }
  });

  it('is the end of a group: deleting or leaving, conversation, user, device and nonce', () => {
    const given = {
      ending: 'delete',
      conversationId: 'group:g',
      userId: 'alice',
      deviceId: 'laptop',
      nonce: Buffer.from('once'),
    } as const;
    const content = Buffer.from('\u0002\u0006delete\u0007group:g\u0005alice\u0006laptop\u0004once', 'latin1');
    expect(holds('SinettiGroupEnding', content, signGroupEnding(signatureKey, given))).toBe(true);
    for (const other of [
      { ending: 'leave' as const },
      { conversationId: 'group:h' },
      { userId: 'bob' },
      { deviceId: 'phone' },
      { nonce: Buffer.from('again') },
    ]) {
      const signed = signGroupEnding(signatureKey, { ...given, ...other });
      expect(holds('SinettiGroupEnding', content, signed)).toBe(false);
    }
  });

  it('is what it saw of a conversation: conversation, user, device, and the hash of the view', () => {
    const saved = {
      conversationId: 'group:g',
      userId: 'alice',
      deviceId: 'laptop',
      view: Buffer.from('commit'),
    };
    const content = Buffer.concat([
      Buffer.from('\u0001\u0007group:g\u0005alice\u0006laptop\u0020', 'latin1'),
      Buffer.from('9505cacb7c710ed17125fcc6cb3669e8ddca6c8cd8af6a31f6b3cd64604c3098', 'hex'),
    ]);
    const signature = signSavedView(signatureKey, saved);
    expect(holds('SinettiSavedView', content, signature)).toBe(true);
    const publicKey = publicKeyOf(signatureKey);
    expect(isSavedViewOf(publicKey, saved, signature)).toBe(true);
    for (const other of [
      { conversationId: 'group:h' },
      { userId: 'bob' },
      { deviceId: 'phone' },
      { view: Buffer.from('another') },
    ]) {
      expect(isSavedViewOf(publicKey, { ...saved, ...other }, signature)).toBe(false);
    }
  });
});
