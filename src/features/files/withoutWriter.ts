/** Bytes of a recording's beginning in which its writer names itself. */
const headLength = 512;
/** Elements of Matroska's Info (RFC 9559, section 5.1.2): the date, and the names of the muxer and of the application. */
const told: readonly (readonly [number, number])[] = [
  [0x44, 0x61],
  [0x4d, 0x80],
  [0x57, 0x41],
];
/** Info, and what follows it: tracks, and clusters with the sound, where the same bytes mean something else. */
const infoId = [0x15, 0x49, 0xa9, 0x66] as const;
const nextIds = [
  [0x16, 0x54, 0xae, 0x6b],
  [0x1f, 0x43, 0xb6, 0x75],
] as const;

/** Returns a recording in WebM without its date and without the names of what has written it; any other one as it is. */
export async function withoutWriter(recording: Blob): Promise<Blob> {
  const head = new Uint8Array(await recording.slice(0, headLength).arrayBuffer());
  if (![0x1a, 0x45, 0xdf, 0xa3].every((byte, at) => head[at] === byte)) return recording;
  // The index before them (SeekHead) has the ids, too, each as the content of a SeekID.
  const isIndexed = (at: number) => head[at - 3] === 0x53 && head[at - 2] === 0xab;
  const placeOf = (id: readonly number[], from: number) =>
    head.findIndex((_, at) => at >= from && !isIndexed(at) && id.every((byte, i) => head[at + i] === byte));
  const info = placeOf(infoId, 4);
  if (info < 0) return recording;
  const ends = nextIds.map((id) => placeOf(id, info)).filter((at) => at >= 0);
  const infoEnd = Math.min(head.length, ...ends);
  for (let at = info + infoId.length; at + 3 < infoEnd; at += 1) {
    if (!told.some(([first, second]) => head[at] === first && head[at + 1] === second)) continue;
    const size = head[at + 2] ?? 0;
    // A size of one byte, as names of this length have.
    if (size < 0x80) continue;
    const end = at + 3 + (size & 0x7f);
    if (end <= infoEnd) head.fill(0, at + 3, end);
    at = end - 1;
  }
  return new Blob([head, recording.slice(headLength)], { type: recording.type });
}
