import { beforeAll, describe, expect, it } from 'vitest';
import { fromUtf8, toHex, utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import { CryptoError } from '../../src/errors.ts';
import { ownContent, signFramedContent } from '../../src/framing/contentAuth.ts';
import {
  protectPrivateMessage,
  senderDataKey,
  unprotectPrivateMessage,
} from '../../src/framing/privateMessage.ts';
import { protectPublicMessage, unprotectPublicMessage } from '../../src/framing/publicMessage.ts';
import { SecretTree } from '../../src/schedule/secretTree.ts';
import type { Content, FramedContent, Sender } from '../../src/structs/framedContent.ts';
import type { GroupContext } from '../../src/structs/groupContext.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import {
  type PrivateMessage,
  writePrivateContentAAD,
  writeSenderData,
  writeSenderDataAAD,
} from '../../src/structs/privateMessage.ts';
import type { PublicMessage } from '../../src/structs/publicMessage.ts';
import type { WireFormat } from '../../src/structs/wireFormat.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

const suite = getSuite(0x0003);
const env = testEnv('framing');
const SENDER = toLeafIndex(1);
const groupContext: GroupContext = {
  cipherSuite: suite.id,
  groupId: utf8('group'),
  epoch: 7n,
  treeHash: new Uint8Array(32).fill(1),
  confirmedTranscriptHash: new Uint8Array(32).fill(2),
  extensions: [],
};
const secrets = {
  encryption: new Uint8Array(32).fill(3),
  senderData: new Uint8Array(32).fill(4),
  membership: new Uint8Array(32).fill(5),
};
const seed = new Uint8Array(32).fill(6);
const publicKeys = { groupContext, membershipKey: secrets.membership };
const emptyCommit: Content = { type: 'commit', commit: { proposals: [], path: null } };
const removeProposal: Content = { type: 'proposal', proposal: { type: 'remove', removed: toLeafIndex(0) } };

beforeAll(ready);

function privateKeys() {
  return {
    groupContext,
    senderDataSecret: secrets.senderData,
    secretTree: SecretTree.create(suite, 4, secrets.encryption),
  };
}

function signatureKeyOf({ sender }: FramedContent): Uint8Array {
  if (sender.type === 'member' && sender.leafIndex !== SENDER) throw new CryptoError('unknown-sender');
  return suite.signatureKeyPair(seed).publicKey;
}

function signed(
  wireFormat: WireFormat,
  content: Content,
  overrides: { sender?: Sender; context?: GroupContext; seed?: Uint8Array } = {},
) {
  const framed: FramedContent = {
    groupId: groupContext.groupId,
    epoch: groupContext.epoch,
    sender: overrides.sender ?? { type: 'member', leafIndex: SENDER },
    authenticatedData: utf8('aad'),
    content,
  };
  const context = overrides.context ?? groupContext;
  const signature = signFramedContent(suite, wireFormat, framed, context, overrides.seed ?? seed);
  return ownContent(wireFormat, framed, { signature, confirmationTag: null });
}

function text(message: string): Content {
  return { type: 'application', data: utf8(message) };
}

function privateMessage(message = 'hello', keys = privateKeys()): PrivateMessage {
  return protectPrivateMessage(suite, signed('private-message', text(message)), keys, env);
}

function openPrivate(message: PrivateMessage, keys = privateKeys()) {
  return unprotectPrivateMessage(suite, message, keys, signatureKeyOf, null);
}

/**
 * Makes a message that a hostile member could send: content of its own making under the group's keys.
 * @param forge makes the plaintext from the bytes that an honest sender would have encrypted
 */
function hostileMessage(
  content: Content,
  forge: (plaintext: Uint8Array) => Uint8Array,
  senderData: { leafIndex?: number; generation?: number } = {},
): PrivateMessage {
  const honest = protectPrivateMessage(suite, signed('private-message', content), privateKeys(), env);
  const { secretTree } = privateKeys();
  const ratchet = content.type === 'application' ? 'application' : 'handshake';
  const { key, nonce } = secretTree.nextKey(SENDER, ratchet);
  const sealed = key.slice();
  const aad = encode(honest, writePrivateContentAAD);
  const plaintext = openContent(honest, sealed, nonce.slice());
  const reuseGuard = new Uint8Array(4);
  const ciphertext = suite.aead.seal(sealed, nonce, aad, forge(plaintext));
  const data = encode(
    {
      leafIndex: toLeafIndex(senderData.leafIndex ?? SENDER),
      generation: senderData.generation ?? 0,
      reuseGuard,
    },
    writeSenderData,
  );
  const sealing = senderDataKey(suite, secrets.senderData, ciphertext);
  const encryptedSenderData = suite.aead.seal(
    sealing.key,
    sealing.nonce,
    encode(honest, writeSenderDataAAD),
    data,
  );
  return { ...honest, ciphertext, encryptedSenderData };
}

function openContent(message: PrivateMessage, key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const sealing = senderDataKey(suite, secrets.senderData, message.ciphertext);
  const aad = encode(message, writeSenderDataAAD);
  const data = suite.aead.open(sealing.key, sealing.nonce, aad, message.encryptedSenderData);
  const guard = data.subarray(8);
  for (let i = 0; i < 4; i++) nonce[i]! ^= guard[i]!;
  return suite.aead.open(key, nonce, encode(message, writePrivateContentAAD), message.ciphertext);
}

describe('a PrivateMessage', () => {
  it('FRAME-08: opens once', () => {
    const message = privateMessage();
    const keys = privateKeys();
    const { content, generation } = openPrivate(message, keys);
    expect(content.content.content.type === 'application' && fromUtf8(content.content.content.data)).toBe(
      'hello',
    );
    expect(fromUtf8(content.content.authenticatedData)).toBe('aad');
    expect(generation).toBe(0);
    expect(refusalOf(() => openPrivate(message, keys))).toContain('replayed: FRAME-08');
  });

  it('refuses every flipped bit, and opens the unchanged message afterwards', () => {
    const bytes = encodeMlsMessage({ wireFormat: 'private-message', privateMessage: privateMessage() });
    const keys = privateKeys();
    const expected = new Set(['malformed', 'unsupported', 'wrong-group', 'wrong-epoch', 'decrypt-failed']);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = bytes.slice();
      altered[bit >> 3]! ^= 1 << (bit & 7);
      const code = codeOf(() => {
        const message = decodeMlsMessage(altered);
        if (message.wireFormat !== 'private-message') throw new CryptoError('malformed');
        openPrivate(message.privateMessage, keys);
      });
      expect(expected).toContain(code);
    }
    expect(keys.secretTree.takeChanges().puts.map(([key]) => key)).toEqual(['n3']);
    const original = decodeMlsMessage(bytes);
    expect(
      original.wireFormat === 'private-message' && openPrivate(original.privateMessage, keys).generation,
    ).toBe(0);
  });

  it('FRAME-01: refuses another group and another epoch', () => {
    const message = privateMessage();
    expect(refusalOf(() => openPrivate({ ...message, groupId: utf8('other') }))).toContain(
      'wrong-group: FRAME-01',
    );
    expect(refusalOf(() => openPrivate({ ...message, epoch: 8n }))).toContain('wrong-epoch: FRAME-01');
  });

  it('refuses a message of the own leaf', () => {
    expect(
      codeOf(() => unprotectPrivateMessage(suite, privateMessage(), privateKeys(), signatureKeyOf, SENDER)),
    ).toBe('own-message');
  });

  it('FRAME-03: refuses a signature by another key, and leaves the ratchet where it was', () => {
    const content = signed('private-message', text('forged'), { seed: new Uint8Array(32).fill(9) });
    const forged = protectPrivateMessage(suite, content, privateKeys(), env);
    const keys = privateKeys();
    expect(refusalOf(() => openPrivate(forged, keys))).toContain('bad-signature: FRAME-03');
    expect(openPrivate(privateMessage('true'), keys).generation).toBe(0);
  });

  it('refuses a signature made for a public message, or in another epoch', () => {
    const { content, auth } = signed('public-message', text('x'));
    const moved = { wireFormat: 'private-message', content, auth } as const;
    expect(codeOf(() => openPrivate(protectPrivateMessage(suite, moved, privateKeys(), env)))).toBe(
      'bad-signature',
    );
    const stale = signed('private-message', text('x'), {
      context: { ...groupContext, treeHash: new Uint8Array(32) },
    });
    expect(codeOf(() => openPrivate(protectPrivateMessage(suite, stale, privateKeys(), env)))).toBe(
      'bad-signature',
    );
  });

  it('FRAME-06: refuses padding that is not zero', () => {
    const hidden = (plaintext: Uint8Array) => {
      plaintext[plaintext.length - 1] = 1;
      return plaintext;
    };
    expect(codeOf(() => openPrivate(hostileMessage(text('x'), (plaintext) => plaintext)))).toBe('none');
    expect(refusalOf(() => openPrivate(hostileMessage(text('x'), hidden)))).toContain('malformed: FRAME-06');
  });

  it.each([
    ['empty content', () => new Uint8Array()],
    ['truncated content', (plaintext: Uint8Array) => plaintext.subarray(0, 20)],
  ])('refuses %s', (_, forge) => {
    expect(codeOf(() => openPrivate(hostileMessage(text('x'), forge)))).toBe('malformed');
    expect(codeOf(() => openPrivate(hostileMessage(removeProposal, forge)))).toBe('malformed');
  });

  it('refuses a sender whose leaf is not the one of the key or outside the tree, and a generation out of reach', () => {
    const keep = (plaintext: Uint8Array) => plaintext;
    expect(codeOf(() => openPrivate(hostileMessage(text('x'), keep, { leafIndex: 4 })))).toBe('missing-key');
    expect(codeOf(() => openPrivate(hostileMessage(text('x'), keep, { leafIndex: 2 })))).toBe(
      'decrypt-failed',
    );
    expect(codeOf(() => openPrivate(hostileMessage(text('x'), keep, { generation: 0xffffffff })))).toBe(
      'generation-too-far',
    );
  });

  it('hides the length of short texts', () => {
    const lengths = ['', 'ok', 'x'.repeat(150)].map((message) => privateMessage(message).ciphertext.length);
    expect(new Set(lengths).size).toBe(1);
  });

  it('never uses a nonce twice, even if its state were restored', () => {
    const [one, two] = [privateMessage('a'), privateMessage('a')];
    expect(toHex(one.ciphertext)).not.toBe(toHex(two.ciphertext));
  });

  it('is made for members and for its own wire format only', () => {
    const external = signed('private-message', removeProposal, {
      sender: { type: 'external', senderIndex: 0 },
    });
    expect(codeOf(() => protectPrivateMessage(suite, external, privateKeys(), env))).toBe('usage');
    const open = signed('public-message', text('x'));
    expect(codeOf(() => protectPrivateMessage(suite, open, privateKeys(), env))).toBe('usage');
  });
});

describe('a PublicMessage', () => {
  function publicMessage(): PublicMessage {
    return protectPublicMessage(suite, signed('public-message', removeProposal), publicKeys);
  }

  function open(message: PublicMessage) {
    return unprotectPublicMessage(suite, message, publicKeys, signatureKeyOf);
  }

  it('opens', () => {
    expect(open(publicMessage()).content.content).toEqual(removeProposal);
  });

  it('refuses every flipped bit', () => {
    const bytes = encodeMlsMessage({ wireFormat: 'public-message', publicMessage: publicMessage() });
    const expected = new Set([
      'malformed',
      'unsupported',
      'wrong-group',
      'wrong-epoch',
      'bad-membership-tag',
    ]);
    const seen = new Set<string>();
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = bytes.slice();
      altered[bit >> 3]! ^= 1 << (bit & 7);
      seen.add(
        codeOf(() => {
          const message = decodeMlsMessage(altered);
          if (message.wireFormat !== 'public-message') throw new CryptoError('malformed');
          open(message.publicMessage);
        }),
      );
    }
    expect([...seen].filter((code) => !expected.has(code))).toEqual([]);
    expect(seen).toContain('bad-membership-tag');
  });

  it('FRAME-05: refuses a wrong or missing membership tag before it looks at the signature', () => {
    for (const membershipTag of [null, new Uint8Array(32)]) {
      expect(refusalOf(() => open({ ...publicMessage(), membershipTag }))).toContain(
        'bad-membership-tag: FRAME-05',
      );
    }
  });

  it('refuses a signature by another key under the right membership key', () => {
    const content = signed('public-message', removeProposal, { seed: new Uint8Array(32).fill(9) });
    expect(codeOf(() => open(protectPublicMessage(suite, content, publicKeys)))).toBe('bad-signature');
  });

  it('FRAME-04: never holds application data, of a member either', () => {
    const content = signed('public-message', text('secret'));
    expect(codeOf(() => protectPublicMessage(suite, content, publicKeys))).toBe('usage');
    const forged: PublicMessage = { content: content.content, auth: content.auth, membershipTag: null };
    expect(refusalOf(() => open(forged))).toContain('malformed: FRAME-04');
  });

  it.each([
    [{ type: 'new-member-commit' }, removeProposal],
    [{ type: 'new-member-proposal' }, removeProposal],
    [{ type: 'external', senderIndex: 0 }, text('x')],
    [{ type: 'external', senderIndex: 0 }, emptyCommit],
    [{ type: 'new-member-proposal' }, emptyCommit],
    [{ type: 'new-member-commit' }, text('x')],
  ] as const)('FRAME-02: refuses from %o what such a sender may not send: %o', (sender, content) => {
    const { content: framed, auth } = signed('public-message', content, { sender });
    expect(refusalOf(() => open({ content: framed, auth, membershipTag: null }))).toContain(
      'malformed: FRAME-02',
    );
  });

  it('carries an external proposal without a membership tag', () => {
    const content = signed('public-message', removeProposal, {
      sender: { type: 'external', senderIndex: 0 },
    });
    const message = protectPublicMessage(suite, content, publicKeys);
    expect(message.membershipTag).toBeNull();
    expect(open(message).content.sender.type).toBe('external');
  });
});
