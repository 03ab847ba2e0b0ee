import { expect, test } from 'vitest';
import { FrameSplitter } from '../../src/mqtt/frames.ts';
import { PacketError, ReasonCode } from '../../src/mqtt/reasonCodes.ts';

const pingreq = [0xc0, 0x00];
const publish = [0x30, 0x05, 0, 1, 0x61, 0, 0x62];

function cut(splitter: FrameSplitter, bytes: readonly number[]): [number, number[]][] {
  return [...splitter.push(Uint8Array.from(bytes))].map((frame) => [frame.type, [...frame.body]]);
}

function reasonOf(action: () => unknown): number | null {
  try {
    action();
    return null;
  } catch (error) {
    if (error instanceof PacketError) return error.reasonCode;
    throw error;
  }
}

test('several packets in one chunk are taken apart', () => {
  expect(cut(new FrameSplitter(64), [...pingreq, ...publish, ...pingreq])).toEqual([
    [12, []],
    [3, [0, 1, 0x61, 0, 0x62]],
    [12, []],
  ]);
});

test('a packet in any two pieces is put together, and its neighbours are whole', () => {
  const stream = [...publish, ...pingreq, ...publish];
  for (let border = 0; border <= stream.length; border += 1) {
    const splitter = new FrameSplitter(64);
    const frames = [...cut(splitter, stream.slice(0, border)), ...cut(splitter, stream.slice(border))];
    expect(frames.map(([type]) => type)).toEqual([3, 12, 3]);
  }
});

test('a long packet that comes byte by byte is put together', () => {
  const body = Array.from({ length: 300 }, (_, index) => index % 256);
  const splitter = new FrameSplitter(1024);
  const frames = [0x30, 0xac, 0x02, ...body].flatMap((byte) => cut(splitter, [byte]));
  expect(frames).toEqual([[3, body]]);
});

test('a body stays what it was while more arrives', () => {
  const splitter = new FrameSplitter(64);
  const kept = [0x30, 0x03, 1].flatMap((byte) => [...splitter.push(Uint8Array.of(byte))]);
  const [frame] = [...splitter.push(Uint8Array.of(2, 3, 0x30, 0x02, 9))];
  expect(kept).toEqual([]);
  expect([...splitter.push(Uint8Array.of(8))].map(({ body }) => [...body])).toEqual([[9, 8]]);
  expect([...(frame?.body ?? [])]).toEqual([1, 2, 3]);
});

test('the size limit counts the whole packet and is checked before its body comes', () => {
  expect(cut(new FrameSplitter(7), publish)).toHaveLength(1);
  expect(reasonOf(() => cut(new FrameSplitter(6), publish.slice(0, 2)))).toBe(ReasonCode.PacketTooLarge);
  expect(reasonOf(() => cut(new FrameSplitter(1024), [0x30, 0xff, 0xff, 0xff, 0x7f]))).toBe(
    ReasonCode.PacketTooLarge,
  );
});

test.each([
  ['five bytes long', [0x30, 0x80, 0x80, 0x80, 0x80]],
  ['longer than necessary', [0x30, 0x85, 0x00]],
  ['a zero in four bytes', [0xc0, 0x80, 0x80, 0x80, 0x00]],
])('a remaining length that is %s is malformed', (_, bytes) => {
  expect(reasonOf(() => cut(new FrameSplitter(1024), bytes))).toBe(ReasonCode.MalformedPacket);
});
