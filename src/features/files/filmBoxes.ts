/** MP4 and QuickTime (ISO/IEC 14496-12), box by box: what a player needs, and nothing that the file says about itself. */

interface Box {
  readonly type: string;
  /** Bytes of its head. */
  readonly head: number;
  /** The position behind it. */
  readonly end: number;
}

/** The first boxes of films and sounds; older ones of QuickTime begin without `ftyp`. */
const firsts = ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip'];
/** Boxes of boxes: the film, its tracks and their media, and the same of a fragment. */
const containers = ['moov', 'trak', 'mdia', 'moof', 'traf'];
/** The place (`©xyz`, `loci`), the camera, titles and XMP are in these. No player needs any of them. */
const told = ['udta', 'meta', 'uuid'];
/** Bytes of a description that are looked at: that of a film of days has a tenth. */
const largest = 64 * 1024 * 1024;
/** Boxes side by side in the file: fragments of a second each for a day have two for each. */
const mostBoxes = 200_000;
const longestHead = 16;

/**
 * Returns a film or sound in MP4 or QuickTime without what it says of where, when and by what it was taken: in the place of that are
 * empty boxes of the same size, since all else is found by its position. Files of other kinds come back as they are. What a track
 * tells along the time, as some cameras do with the place, stays.
 * @returns null for one that can't be read to its end
 */
export async function withoutFilmMetadata(source: Blob): Promise<Blob | null> {
  const parts: (Blob | Uint8Array<ArrayBuffer>)[] = [];
  let taken = 0;
  let at = 0;
  for (let count = 0; at < source.size; count += 1) {
    if (count === mostBoxes) return null;
    const head = await bytesOf(source, at, longestHead);
    const box = readBox(head, 0, source.size - at);
    if (count === 0 && !firsts.includes(box?.type ?? typeAt(head, 0))) return source;
    if (box === null) return null;
    const isTold = told.includes(box.type);
    if (isTold || containers.includes(box.type)) {
      if (box.end > largest) return null;
      const bytes = await bytesOf(source, at, box.end);
      if (isTold) empty(bytes, 0, box);
      else if (!emptyWithin(bytes, box.head, box.end)) return null;
      parts.push(source.slice(taken, at), bytes);
      taken = at + box.end;
    }
    at += box.end;
  }
  return taken === 0 ? source : new Blob([...parts, source.slice(taken)], { type: source.type });
}

async function bytesOf(source: Blob, from: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await source.slice(from, from + length).arrayBuffer());
}

/** Empties what is told in the boxes from one position to another. @returns false where they don't fill it */
function emptyWithin(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (at < to) {
    // QuickTime may end a list by four zeros.
    if (to - at < 8) return bytes.subarray(at, to).every((byte) => byte === 0);
    const box = readBox(bytes, at, to);
    if (box === null) return false;
    if (told.includes(box.type)) empty(bytes, at, box);
    else if (containers.includes(box.type) && !emptyWithin(bytes, at + box.head, box.end)) return false;
    at = box.end;
  }
  return true;
}

/** Reads the head of a box. @param limit the position behind what it is in */
function readBox(bytes: Uint8Array, at: number, limit: number): Box | null {
  if (at + 8 > bytes.length) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const short = view.getUint32(at);
  // Sizes that need more than 32 bits, and those that reach to the end.
  const isLong = short === 1;
  if (isLong && at + 16 > bytes.length) return null;
  const size = isLong ? Number(view.getBigUint64(at + 8)) : short === 0 ? limit - at : short;
  const head = isLong ? 16 : 8;
  if (size < head || size > limit - at) return null;
  return { type: typeAt(bytes, at), head, end: at + size };
}

function typeAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at + 4, at + 8));
}

function empty(bytes: Uint8Array, at: number, { head, end }: Box): void {
  bytes.set([0x66, 0x72, 0x65, 0x65], at + 4);
  bytes.fill(0, at + head, end);
}
