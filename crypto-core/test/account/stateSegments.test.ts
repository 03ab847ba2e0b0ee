import { beforeAll, describe, expect, it } from 'vitest';
import {
  type AccountState,
  openAccountState,
  type PinnedPerson,
  signAccountState,
  verifyAccountState,
} from '../../src/account/accountState.ts';
import { issueDeviceCertificate } from '../../src/account/deviceCertificate.ts';
import { createSharedKeys, sealShared } from '../../src/account/sharedKeys.ts';
import { publicKeyOf } from '../../src/account/signedStatement.ts';
import {
  hashesOf,
  openStateInSegments,
  PEOPLE_PER_SEGMENT,
  sealStateInSegments,
  segmentsNamed,
} from '../../src/account/stateSegments.ts';
import { concat, toHex } from '../../src/bytes.ts';
import { encode, type Writer } from '../../src/codec/writer.ts';
import { ready, sha256 } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

beforeAll(ready);

const env = testEnv('segments of the account state');
const [first, second] = [1, 4].map((revision) => createSharedKeys(revision, env)) as [
  ReturnType<typeof createSharedKeys>,
  ReturnType<typeof createSharedKeys>,
];
const idOf = (at: number) => `0a52f3a8-5a7e-4f3a-9d0e-${at.toString(16).padStart(12, '0')}`;
const person = (at: number): PinnedPerson => ({
  userId: idOf(at),
  keys: [{ standing: 'present', accountKey: env.random(32) }],
});
const people = Array.from({ length: 3 * PEOPLE_PER_SEGMENT - 5 }, (_, at) => person(at));
const markOf = ({ keys, userId }: PinnedPerson) => ({ userId, accountKey: keys[0]!.accountKey });
const state: AccountState = {
  pins: people,
  verified: [people[3]!, people[100]!].map(markOf),
  revision: 9,
};
const sealed = sealStateInSegments(state, [first], 'u1', env);

describe('an account state in segments', () => {
  it('remembers whom the person has met and verified, in their order', () => {
    expect(sealed.segments).toHaveLength(3);
    expect(openStateInSegments(sealed, [first, second], 'u1')).toEqual(state);
    expect(codeOf(() => openStateInSegments(sealed, [first], 'u2'))).toBe('corrupt-record');
    expect(codeOf(() => openStateInSegments(sealed, [second], 'u1'))).toBe('missing-key');
  });

  it('keeps the segments in which nothing changes', () => {
    const verified = [...state.verified, markOf(people[101]!)];
    const next = sealStateInSegments(
      { ...state, verified, revision: 10 },
      [first],
      'u1',
      env,
      sealed.segments,
    );
    const isKept = next.segments.map((segment, at) => segment === sealed.segments[at]);
    expect(isKept).toEqual([true, false, true]);
    expect(openStateInSegments(next, [first], 'u1')).toEqual({ ...state, verified, revision: 10 });
  });

  it('keeps none from under other keys, of another person, or that is something else', () => {
    const other = sealStateInSegments(state, [first], 'u2', env).segments;
    const known = [...sealed.segments, ...other, env.random(90), new Uint8Array(2)];
    const { segments } = sealStateInSegments(state, [first, second], 'u1', env, known);
    expect(segments.filter((segment) => known.includes(segment))).toEqual([]);
  });

  it('has segments of one length, whoever is in them and verified', () => {
    const few = sealStateInSegments({ ...state, pins: [person(1)], verified: [] }, [first], 'u1', env);
    const all = sealStateInSegments({ ...state, verified: people.map(markOf) }, [first], 'u1', env);
    const lengths = [...few.segments, ...sealed.segments, ...all.segments].map(({ length }) => length);
    expect(new Set(lengths)).toEqual(new Set([6_144 + 45]));
    expect(few.sealed).toHaveLength(all.sealed.length);
  });

  it('holds a mark under a key, or of a person, that it has no pin of', () => {
    const verified = [
      { userId: people[0]!.userId, accountKey: env.random(32) },
      { userId: 'somebody', accountKey: env.random(32) },
    ];
    const opened = openStateInSegments(
      sealStateInSegments({ pins: people.slice(0, 1), verified, revision: 1 }, [first], 'u1', env),
      [first],
      'u1',
    );
    expect(opened.verified).toEqual(verified);
    expect(opened.pins.map(({ keys }) => keys.map(({ standing }) => standing))).toEqual([
      ['present', 'offered'],
      ['present'],
    ]);
  });

  it('does not open with a segment under other keys than its head, or in the place of one', () => {
    const [one, two, three] = sealed.segments as [Uint8Array, Uint8Array, Uint8Array];
    const newer = sealStateInSegments(state, [first, second], 'u1', env);
    const openedWith = (segments: readonly Uint8Array[]) =>
      codeOf(() => openStateInSegments({ sealed: newer.sealed, segments }, [first, second], 'u1'));
    expect(openedWith(newer.segments)).toBe('none');
    expect(openedWith([one, ...newer.segments.slice(1)])).toBe('corrupt-record');
    expect(codeOf(() => openStateInSegments({ sealed: one, segments: [two, three] }, [first], 'u1'))).toBe(
      'corrupt-record',
    );
    expect(codeOf(() => openAccountState(sealed.sealed, [first], 'u1'))).toBe('corrupt-record');
  });

  it('does not open with other segments of the same keys, though somebody without these signs the two together', () => {
    const [one, two, three] = sealed.segments as [Uint8Array, Uint8Array, Uint8Array];
    const next = sealStateInSegments({ ...state, verified: [] }, [first], 'u1', env, sealed.segments);
    const seed = env.random(32);
    const device = { userId: 'u1', deviceId: 'gone', deviceKey: publicKeyOf(seed), notBefore: 0n };
    const certificate = issueDeviceCertificate(env.random(32), device);
    const openedWith = (...segments: Uint8Array[]) =>
      codeOf(() => {
        const signed = signAccountState(
          { certificate, sealed: next.sealed, segments: hashesOf(segments) },
          seed,
        );
        const { sealed: head, segments: hashes } = verifyAccountState(signed);
        const given = segmentsNamed(hashes!, [...next.segments, ...sealed.segments]);
        openStateInSegments({ sealed: head, segments: given }, [first], 'u1');
      });
    expect(openedWith(...next.segments)).toBe('none');
    expect(openedWith(one, ...next.segments.slice(1))).toBe('corrupt-record');
    expect(openedWith(...next.segments.slice(1))).toBe('corrupt-record');
    expect(openedWith(one, two, three)).toBe('corrupt-record');
  });

  const segmentOf = (mark: number, ...padding: number[]) => {
    const write = (writer: Writer) => {
      writer.vector([1], (w) => {
        w.opaque(Uint8Array.of(97));
        w.vector([1], (inner, standing) => {
          inner.u8(standing);
          inner.opaque(first.stateKey);
        });
        w.u16(mark);
      });
      writer.bytes(Uint8Array.from(padding));
    };
    return sealShared('state', [first], 'u1/segment', encode(null, write), env);
  };

  it('is refused with a mark of no key, with other bytes after the people, or in a version to come', () => {
    const headOf = (value: number, ...segments: Uint8Array[]) => {
      const place = `u1/head/${toHex(sha256(concat(...hashesOf(segments))))}`;
      const head = encode(value, (writer) => [writer.u16(value), writer.u32(1)]);
      return sealShared('state', [first], place, head, env);
    };
    const openedWith = (segment: Uint8Array) =>
      codeOf(() => openStateInSegments({ sealed: headOf(3, segment), segments: [segment] }, [first], 'u1'));
    expect([segmentOf(0), segmentOf(1), segmentOf(1, 0, 0)].map(openedWith)).toEqual([
      'none',
      'none',
      'none',
    ]);
    expect([segmentOf(2), segmentOf(1, 0, 1)].map(openedWith)).toEqual(['malformed', 'malformed']);
    const codes = [3, 4].map((value) =>
      codeOf(() => openStateInSegments({ sealed: headOf(value), segments: [] }, [first], 'u1')),
    );
    expect(codes).toEqual(['none', 'unsupported']);
  });
});

describe('a signed account state in segments', () => {
  const deviceSeed = env.random(32);
  const device = { userId: 'u1', deviceId: 'd1', deviceKey: publicKeyOf(deviceSeed), notBefore: 0n };
  const certificate = issueDeviceCertificate(env.random(32), device);
  const hashes = hashesOf(sealed.segments);
  const signed = signAccountState({ certificate, sealed: sealed.sealed, segments: hashes }, deviceSeed);

  it('names its segments in their order, whatever order they are given in', () => {
    const { sealed: head, segments, signer } = verifyAccountState(signed);
    expect(signer.deviceId).toBe('d1');
    const named = segmentsNamed(segments!, [env.random(9), ...sealed.segments.toReversed()]);
    expect(openStateInSegments({ sealed: head, segments: named }, [first], 'u1')).toEqual(state);
  });

  it('names no more of them than there are', () => {
    const [one] = sealed.segments;
    const often = Array.from({ length: 10_000 }, () => hashes[0]!);
    expect(codeOf(() => segmentsNamed(often, [one!]))).toBe('corrupt-record');
  });

  it('does not hold without one of them, nor with one from before in its place', () => {
    const { segments } = verifyAccountState(signed);
    const before = sealStateInSegments(
      { ...state, verified: [] },
      [first],
      'u1',
      env,
      sealed.segments,
    ).segments;
    for (const given of [sealed.segments.slice(1), before]) {
      expect(codeOf(() => segmentsNamed(segments!, given))).toBe('corrupt-record');
    }
    for (const at of [certificate.length + 70, signed.length - 80]) {
      const changed = signed.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(codeOf(() => verifyAccountState(changed))).toBe('bad-signature');
    }
  });
});
