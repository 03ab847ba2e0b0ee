import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { fromUtf8, toHex, utf8 } from '../../src/bytes.ts';
import {
  emptyRunningHash,
  entryDigest,
  type LoggedEntry,
  nextRunningHash,
} from '../../src/content/runningHash.ts';
import { ready } from '../../src/suite/sodium.ts';

beforeAll(ready);

const first: LoggedEntry = {
  groupId: utf8('group:1'),
  position: 1,
  kind: 'commit',
  epoch: 0,
  messageId: 'm1',
  userId: 'anna',
  deviceId: 'laptop',
  content: utf8('a commit'),
};
const second: LoggedEntry = {
  ...first,
  position: 258,
  kind: 'application',
  epoch: 2 ** 33,
  messageId: 'm2',
  content: new Uint8Array(0),
};

/** The digest by another SHA-256, from bytes that are put together by hand. */
function digestOf({ groupId, position, kind, epoch, messageId, userId, deviceId, content }: LoggedEntry) {
  const numbers = Buffer.alloc(17);
  numbers.writeBigUInt64BE(BigInt(position), 0);
  numbers.writeUInt8(kind === 'commit' ? 3 : 1, 8);
  numbers.writeBigUInt64BE(BigInt(epoch), 9);
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  return createHash('sha256')
    .update(text('Sinetti 1.0 Log Entry'))
    .update(text(fromUtf8(groupId)))
    .update(numbers)
    .update(text(messageId))
    .update(text(userId))
    .update(text(deviceId))
    .update(createHash('sha256').update(content).digest())
    .digest('hex');
}

function next(before: Uint8Array, digest: Uint8Array): string {
  const label = 'Sinetti 1.0 Running Hash';
  return createHash('sha256')
    .update(Buffer.from([label.length]))
    .update(label)
    .update(before)
    .update(digest)
    .digest('hex');
}

describe('the running hash', () => {
  it('is what another implementation computes, and what it was when it was written down', () => {
    expect(toHex(entryDigest(first))).toBe(digestOf(first));
    expect(toHex(entryDigest(second))).toBe(digestOf(second));
    expect(toHex(entryDigest(first))).toBe(
      '619ce3027a8ae21985c50a64689dfa2ce164c11146f082bb4fae6bb294fa48ab',
    );
    const after = nextRunningHash(emptyRunningHash(), entryDigest(first));
    expect(toHex(after)).toBe(next(new Uint8Array(32), entryDigest(first)));
    const end = nextRunningHash(after, entryDigest(second));
    expect(toHex(end)).toBe(next(after, entryDigest(second)));
    expect(toHex(end)).toBe('f40eac2df23718bdb7e27b5ee3db64e8ab55c1549c1275c0b5afabc7e56e5726');
  });

  it('depends on everything that the relay says of an entry but its time', () => {
    const changes: Partial<LoggedEntry>[] = [
      { groupId: utf8('group:2') },
      { position: 2 },
      { kind: 'application' },
      { epoch: 1 },
      { messageId: 'm3' },
      { userId: 'bert' },
      { deviceId: 'phone' },
      { content: utf8('another commit') },
      // The ends of two fields can't be moved.
      { messageId: 'm1a', userId: 'nna' },
    ];
    const digests = [first, ...changes.map((change) => ({ ...first, ...change }))].map((entry) =>
      toHex(entryDigest(entry)),
    );
    expect(new Set(digests).size).toBe(changes.length + 1);
  });

  it('depends on the order', () => {
    const [one, two] = [entryDigest(first), entryDigest(second)];
    const start = emptyRunningHash();
    expect(nextRunningHash(nextRunningHash(start, one), two)).not.toEqual(
      nextRunningHash(nextRunningHash(start, two), one),
    );
  });
});
