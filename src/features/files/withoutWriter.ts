/** Bytes of a recording's beginning in which its writer names itself. */
const headLength = 512;
/** Elements of Matroska's Info (RFC 9559, section 5.1.2): the date, and the names of the muxer and of the application. */
const told: readonly (readonly [number, number])[] = [
  [0x44, 0x61],
  [0x4d, 0x80],
  [0x57, 0x41],
];

/** Returns a recording in WebM without its date and without the names of what has written it; any other one as it is. */
export async function withoutWriter(recording: Blob): Promise<Blob> {
  const head = new Uint8Array(await recording.slice(0, headLength).arrayBuffer());
  if (![0x1a, 0x45, 0xdf, 0xa3].every((byte, at) => head[at] === byte)) return recording;
  for (let at = 4; at + 3 < head.length; at += 1) {
    if (!told.some(([first, second]) => head[at] === first && head[at + 1] === second)) continue;
    const size = head[at + 2] ?? 0;
    // A size of one byte, as names of this length have.
    if (size < 0x80) continue;
    const end = at + 3 + (size & 0x7f);
    if (end <= head.length) head.fill(0, at + 3, end);
    at = end - 1;
  }
  return new Blob([head, recording.slice(headLength)], { type: recording.type });
}
