import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { type ContentType, readContentType, writeContentType } from './framedContent.ts';
import { type LeafIndex, toLeafIndex } from './indices.ts';

/** RFC 9420 section 6.3. */
export interface PrivateMessage {
  readonly groupId: Uint8Array;
  readonly epoch: bigint;
  readonly contentType: ContentType;
  readonly authenticatedData: Uint8Array;
  readonly encryptedSenderData: Uint8Array;
  readonly ciphertext: Uint8Array;
}

/** RFC 9420 section 6.3.2. */
export interface SenderData {
  readonly leafIndex: LeafIndex;
  readonly generation: number;
  /** 4 bytes. */
  readonly reuseGuard: Uint8Array;
}

const REUSE_GUARD_LENGTH = 4;

type PrivateContentAAD = Pick<PrivateMessage, 'groupId' | 'epoch' | 'contentType' | 'authenticatedData'>;

export function readPrivateMessage(r: Reader): PrivateMessage {
  return {
    groupId: r.groupId(),
    epoch: r.u64(),
    contentType: readContentType(r),
    authenticatedData: r.opaque(),
    encryptedSenderData: r.opaque(),
    ciphertext: r.opaque(),
  };
}

export function writePrivateMessage(w: Writer, message: PrivateMessage): void {
  writePrivateContentAAD(w, message);
  w.opaque(message.encryptedSenderData);
  w.opaque(message.ciphertext);
}

/** Associated data of the content's encryption (RFC 9420 section 6.3.1). */
export function writePrivateContentAAD(w: Writer, message: PrivateContentAAD): void {
  writeSenderDataAAD(w, message);
  w.opaque(message.authenticatedData);
}

/** Associated data of the sender data's encryption (RFC 9420 section 6.3.2). */
export function writeSenderDataAAD(w: Writer, message: Omit<PrivateContentAAD, 'authenticatedData'>): void {
  w.opaque(message.groupId);
  w.u64(message.epoch);
  writeContentType(w, message.contentType);
}

export function readSenderData(r: Reader): SenderData {
  return {
    leafIndex: toLeafIndex(r.u32()),
    generation: r.u32(),
    reuseGuard: r.bytes(REUSE_GUARD_LENGTH),
  };
}

export function writeSenderData(w: Writer, data: SenderData): void {
  w.u32(data.leafIndex);
  w.u32(data.generation);
  w.bytes(data.reuseGuard);
}
