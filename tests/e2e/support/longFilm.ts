import { Buffer } from 'node:buffer';

/** IDs of elements (RFC 8794; RFC 9559, section 5). */
const ids = {
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  muxingApp: 0x4d80,
  writingApp: 0x5741,
  tracks: 0x1654ae6b,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  cues: 0x1c53bb6b,
  cuePoint: 0xbb,
  cueTime: 0xb3,
  cueTrackPositions: 0xb7,
  cueTrack: 0xf7,
  cueClusterPosition: 0xf1,
  void: 0xec,
} as const;

interface Element {
  readonly id: number;
  /** Positions of the whole element, and of its content. */
  readonly from: number;
  readonly begin: number;
  readonly end: number;
}

/** Elements in a part of a film; one of unknown size, as a recording has them, goes to the end. */
function* elements(bytes: Buffer, from: number, to: number): Generator<Element> {
  for (let at = from; at < to; ) {
    const idLength = Math.clz32(bytes.readUInt8(at)) - 23;
    const sizeAt = at + idLength;
    const sizeLength = Math.clz32(bytes.readUInt8(sizeAt)) - 23;
    const size = [...bytes.subarray(sizeAt, sizeAt + sizeLength)].reduce(
      (sum, byte, place) => sum * 256 + (place === 0 ? byte & (0xff >> sizeLength) : byte),
      0,
    );
    const begin = sizeAt + sizeLength;
    const isUnknown = size === 2 ** (7 * sizeLength) - 1;
    const end = isUnknown ? to : begin + size;
    yield { id: bytes.readUIntBE(at, idLength), from: at, begin, end };
    at = end;
  }
}

/** An element whose size has eight bytes, so that its length is known beforehand. */
function element(id: number, ...content: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12);
  const idLength = Math.ceil((32 - Math.clz32(id)) / 8);
  head.writeUIntBE(id, 0, idLength);
  head.writeUInt8(1, idLength);
  head.writeUIntBE(
    content.reduce((sum, part) => sum + part.length, 0),
    idLength + 2,
    6,
  );
  return Buffer.concat([head.subarray(0, idLength + 8), ...content]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}

/**
 * Makes a long film of a short recording, which is shown once a second: with its length and an index in front, as films are
 * that somebody has prepared, and of as many bytes a second, most of which show nothing.
 */
export function longFilm(recording: Buffer, seconds: number, bytesPerSecond: number): Buffer {
  const [header, segment] = [...elements(recording, 0, recording.length)];
  if (header === undefined || segment?.id !== ids.segment) throw new Error('no film');
  const parts = [...elements(recording, segment.begin, segment.end)];
  const tracks = parts.find(({ id }) => id === ids.tracks);
  const cluster = parts.find(({ id }) => id === ids.cluster);
  if (tracks === undefined || cluster === undefined) throw new Error('nothing to show');
  const blocks = [...elements(recording, cluster.begin, cluster.end)]
    .filter(({ id }) => id === ids.simpleBlock || id === ids.blockGroup)
    .map(({ end, from }) => recording.subarray(from, end));

  const clusterAt = (second: number) => {
    const shown = [element(ids.timestamp, number(second * 1000)), ...blocks];
    const head = element(ids.cluster).length + element(ids.void).length;
    const rest = bytesPerSecond - head - Buffer.concat(shown).length;
    return element(ids.cluster, ...shown, element(ids.void, Buffer.alloc(rest)));
  };
  const info = element(
    ids.info,
    element(ids.timestampScale, number(1_000_000)),
    element(ids.duration, double(seconds * 1000)),
    element(ids.muxingApp, Buffer.from('test')),
    element(ids.writingApp, Buffer.from('test')),
  );
  const cues = (first: number) =>
    element(
      ids.cues,
      ...Array.from({ length: seconds }, (_, second) =>
        element(
          ids.cuePoint,
          element(ids.cueTime, number(second * 1000)),
          element(
            ids.cueTrackPositions,
            element(ids.cueTrack, number(1)),
            element(ids.cueClusterPosition, number(first + second * bytesPerSecond)),
          ),
        ),
      ),
    );
  const front = [info, recording.subarray(tracks.from, tracks.end)];
  const first = Buffer.concat([...front, cues(0)]).length;
  return Buffer.concat([
    recording.subarray(header.from, header.end),
    element(
      ids.segment,
      ...front,
      cues(first),
      ...Array.from({ length: seconds }, (_, second) => clusterAt(second)),
    ),
  ]);
}
