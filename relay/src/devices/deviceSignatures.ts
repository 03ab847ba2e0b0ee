import { createHash } from 'node:crypto';
import type { DeviceSession, Session } from '../auth/session.ts';
import { isSignedBy, signContent } from '../auth/signedContent.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { opaque } from '../opaque.ts';
import { findDevice } from '../repositories/devices.ts';
import type { ReceiptRow } from '../repositories/receipts.ts';
import { type CertifiedDevice, deviceKeyOf } from './certificates.ts';

const version = 1;

/** A commit as far as the device that submits it signs it; byte strings are base64url. */
export interface SignedCommit {
  readonly epoch: number;
  readonly commit: string;
  readonly groupInfo: string;
  readonly signature: string;
}

/**
 * Has the device itself say that it takes a session, so that a stolen token takes no device's place.
 * @throws ApiError forbidden
 */
export function requireSignedSession(
  { id: session, userId }: Session,
  { id: deviceId, certificate, signature }: { id: string; certificate: Buffer; signature: Buffer | null },
): void {
  const content = Buffer.concat([
    Buffer.of(version),
    ...[userId, deviceId, session].map((text) => opaque(Buffer.from(text))),
  ]);
  const key = deviceKeyOf(certificate, { userId, deviceId });
  requireSignature(key, 'SinettiDeviceSession', content, signature);
}

/**
 * Has the session's device itself say what it commits: a stolen token changes no conversation.
 * @throws ApiError forbidden
 */
export async function requireSignedCommit(
  db: Db,
  { deviceId, userId }: DeviceSession,
  conversationId: string,
  { commit, epoch, groupInfo, signature }: SignedCommit,
): Promise<void> {
  const content = Buffer.concat([
    Buffer.of(version),
    opaque(Buffer.from(conversationId)),
    uint64(epoch),
    opaque(hashOf(commit)),
    opaque(hashOf(groupInfo)),
  ]);
  const key = await registeredKeyOf(db, { deviceId, userId });
  requireSignature(key, 'SinettiSubmittedCommit', content, Buffer.from(signature, 'base64url'));
}

/**
 * Has the session's device itself say how far it has received a conversation: a stolen token acknowledges nothing.
 * @throws ApiError forbidden
 */
export async function requireSignedReceipt(
  db: Db,
  { deviceId, userId }: DeviceSession,
  conversationId: string,
  { epoch, position, sealed, signature }: ReceiptRow,
): Promise<void> {
  const content = Buffer.concat([
    Buffer.of(version),
    opaque(Buffer.from(conversationId)),
    uint64(epoch),
    ...[userId, deviceId].map((text) => opaque(Buffer.from(text))),
    uint64(position),
    opaque(sealed),
  ]);
  const key = await registeredKeyOf(db, { deviceId, userId });
  requireSignature(key, 'SinettiReceipt', content, signature);
}

/** Null for a device that is not registered, or under a certificate of another. */
async function registeredKeyOf(db: Db, device: CertifiedDevice): Promise<Buffer | null> {
  const found = await findDevice(db, device.deviceId);
  return found === null ? null : deviceKeyOf(found.certificate, device);
}

function requireSignature(
  key: Buffer | null,
  label: string,
  content: Buffer,
  signature: Buffer | null,
): void {
  if (key !== null && signature !== null && isSignedBy(key, signContent(label, content), signature)) return;
  throw new ApiError('forbidden', 'This is not signed by the device.');
}

const hashOf = (base64url: string): Buffer =>
  createHash('sha256').update(Buffer.from(base64url, 'base64url')).digest();

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
