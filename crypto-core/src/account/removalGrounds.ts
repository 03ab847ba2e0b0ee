/** The grounds that a commit has for the leaves it removes, which are its authenticated data. */
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';

export interface RemovalGrounds {
  /** Leave statements of people. */
  readonly departures: readonly Uint8Array[];
  /** Revocations of devices. */
  readonly revocations: readonly Uint8Array[];
}

const NO_BYTES = new Uint8Array(0);

/** Encodes `opaque departures<V><V>; opaque revocations<V><V>`, or no bytes at all when both are empty. */
export function encodeRemovalGrounds({ departures, revocations }: RemovalGrounds): Uint8Array {
  if (departures.length + revocations.length === 0) return NO_BYTES;
  return encode([departures, revocations], (writer, lists) => {
    for (const list of lists) writer.vector(list, (w, statement) => w.opaque(statement));
  });
}

/** Decodes grounds without checking their signatures. @throws CryptoError 'malformed', 'unsupported' */
export function decodeRemovalGrounds(authenticatedData: Uint8Array): RemovalGrounds {
  if (authenticatedData.length === 0) return { departures: [], revocations: [] };
  return decode(authenticatedData, (reader) => ({
    departures: reader.vector('statements', (r) => r.opaque()),
    revocations: reader.vector('statements', (r) => r.opaque()),
  }));
}
