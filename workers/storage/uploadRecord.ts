import { type Guarded, integer, object } from '../codec/guards.ts';
import { bytes } from '../codec/json.ts';
import { limits } from '../codec/limits.ts';

/** A sealed file that no message names yet. */
export const UploadRecord = object({
  key: bytes(32, 32),
  /** SHA-256 of the sealed file. */
  hash: bytes(32, 32),
  /** Bytes of the file before it was padded and sealed. */
  size: integer(0, limits.fileSize),
});
export type UploadRecord = Guarded<typeof UploadRecord>;
