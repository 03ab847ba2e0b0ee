import { createHash } from 'node:crypto';
import { opaque } from '../opaque.ts';
import type { EntryHead, StoredEntry } from './entries.ts';

const label = Buffer.from('Sinetti 1.0 Log Entry');
const kinds = { application: 1, commit: 3 } as const;

/**
 * The digest of an entry, 32 bytes, as clients compute it for the running hash over the log (docs/PROTOCOL.md, section 10).
 * The relay keeps it where content or sender goes, and gives it in the place of entries from before somebody joined.
 */
export function digestOf(entry: StoredEntry): Buffer {
  return entry.digest ?? entryDigest(entry, entry.content);
}

/** An entry with its digest in the place of its content. */
export function withoutContent(entry: StoredEntry): StoredEntry {
  return { ...entry, content: Buffer.alloc(0), digest: digestOf(entry) };
}

function entryDigest(entry: EntryHead, content: Buffer): Buffer {
  const numbers = Buffer.alloc(17);
  numbers.writeBigUInt64BE(BigInt(entry.seq), 0);
  numbers.writeUInt8(kinds[entry.kind], 8);
  numbers.writeBigUInt64BE(BigInt(entry.epoch), 9);
  return createHash('sha256')
    .update(opaque(label))
    .update(opaque(Buffer.from(entry.conversationId)))
    .update(numbers)
    .update(opaque(Buffer.from(entry.id)))
    .update(opaque(Buffer.from(entry.senderId)))
    .update(opaque(Buffer.from(entry.senderDeviceId)))
    .update(createHash('sha256').update(content).digest())
    .digest();
}
