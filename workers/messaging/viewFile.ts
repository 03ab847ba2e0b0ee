/** The file of what a device saw of a conversation (crypto-core's SPEC.md has its form). */
import { CryptoApiError } from '../api/errors.ts';
import { type SeenKind, seenKinds } from '../api/evidenceApi.ts';
import {
  array,
  type Guarded,
  GuardFailure,
  integer,
  nullable,
  object,
  oneOf,
  string,
  withDefault,
} from '../codec/guards.ts';
import { bytes, parseJson } from '../codec/json.ts';
import { limits } from '../codec/limits.ts';

const id = string(128);
const hash = string(43, /^[A-Za-z0-9_-]{43}$/);
const moment = string(64);

const FileEntry = object({
  position: integer(1),
  digest: hash,
  /** The running hash after it; null where it isn't known. */
  running_hash: nullable(hash),
  device_id: id,
  /** Null where this device can't say whose device that is. */
  user_id: nullable(id),
  /** Null for a change of members, and what is not a message that is kept. */
  message_id: nullable(id),
  /** Null where the person has left texts out, and where there is none. */
  text: nullable(string(limits.viewText)),
  /** Left out where there is no message, or none that can be read, and in files from before this was said. */
  kind: withDefault<SeenKind | undefined>(oneOf(...seenKinds), undefined),
});
export type FileEntry = Guarded<typeof FileEntry>;

const SavedView = object({
  conversation_id: id,
  user_id: id,
  device_id: id,
  saved_at: moment,
  /** The position after which the running hash starts; null where there is none. */
  start: nullable(integer(0)),
  /** The last position that was read. */
  position: integer(0),
  /** Ascending: the newest entries that are kept for comparing. */
  entries: array(FileEntry, limits.viewEntries),
  findings: array(
    object({
      position: integer(0),
      kind: oneOf('missing', 'diverged'),
      count: integer(0),
      user_id: id,
      device_id: id,
    }),
    limits.eventsPerConversation,
  ),
});
export type SavedView = Guarded<typeof SavedView>;

const ViewFile = object({
  format: oneOf('conversation-view'),
  version: oneOf(1),
  view: SavedView,
  certificate: bytes(limits.certificate),
  signature: bytes(64, 64),
});
export type ViewFile = Guarded<typeof ViewFile>;

const encoder = new TextEncoder();

/** The bytes of a view that are signed: its fields in their order, as JSON without spaces. */
export function viewBytes(view: SavedView): Uint8Array {
  return encoder.encode(JSON.stringify(SavedView(view)));
}

/** @throws CryptoApiError `malformed` for anything that is no such file */
export function readViewFile(text: string): ViewFile {
  try {
    const file = parseJson(text, ViewFile);
    const positions = file.view.entries.map(({ position }) => position);
    if (positions.some((position, i) => position <= (positions[i - 1] ?? 0)))
      throw new GuardFailure('positions');
    return file;
  } catch (error) {
    if (error instanceof GuardFailure) throw new CryptoApiError('malformed', 'view file');
    throw error;
  }
}

/** Readable as it is, since people look at what they give away. */
export function writeViewFile(view: SavedView, certificate: string, signature: string): string {
  const file = { format: 'conversation-view', version: 1, view: SavedView(view), certificate, signature };
  return `${JSON.stringify(file, null, 1)}\n`;
}
