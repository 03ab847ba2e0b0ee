import { createHash } from 'node:crypto';
import type { DeviceSession, Session } from '../auth/session.ts';
import { isSignedBy, isSignedStatement, signContent } from '../auth/signedContent.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { opaque, opaquesIn } from '../opaque.ts';
import { type DeviceRow, findDevice } from '../repositories/devices.ts';
import { takeNonce } from '../repositories/proofs.ts';
import type { ReceiptRow } from '../repositories/receipts.ts';
import { deviceKeyOf } from './certificates.ts';

const version = 1;
const endingVersion = 2;
const stateVersion = 2;
const segmentedStateVersion = 3;
const hashLength = 32;
const revisionLength = 4;
/** An Ed25519 signature as opaque<V>. */
const signatureLength = 66;

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

/** A start as the device signs it. */
export interface SignedStart {
  readonly number: number;
  /** Tags, in base64url. */
  readonly tag: string;
  readonly from: readonly string[];
  readonly signature: Buffer;
}

/** @throws ApiError forbidden */
export function requireSignedStart(
  { deviceId, userId }: DeviceSession,
  certificate: Buffer,
  { from, number, signature, tag }: SignedStart,
): void {
  const content = Buffer.concat([
    Buffer.of(version),
    ...[userId, deviceId].map((text) => opaque(Buffer.from(text))),
    uint64(number),
    opaque(Buffer.from(tag, 'base64url')),
    opaque(Buffer.concat(from.map((text) => Buffer.from(text, 'base64url')))),
  ]);
  requireSignature(deviceKeyOf(certificate, { userId, deviceId }), 'SinettiDeviceStart', content, signature);
}

/**
 * Has a device itself say that its data is in two places, whatever session it says it in.
 * @throws ApiError forbidden
 */
export function requireSignedCopied(
  device: Pick<DeviceRow, 'id' | 'userId' | 'certificate'>,
  signature: Buffer,
): void {
  const { certificate, id: deviceId, userId } = device;
  const content = Buffer.concat([
    Buffer.of(version),
    ...[userId, deviceId].map((text) => opaque(Buffer.from(text))),
  ]);
  requireSignature(deviceKeyOf(certificate, { userId, deviceId }), 'SinettiDeviceCopied', content, signature);
}

/**
 * Has the session's device itself say what it commits: a stolen token changes no conversation.
 * @throws ApiError forbidden
 */
export async function requireSignedCommit(
  db: Db,
  session: DeviceSession,
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
  const key = (await signerOf(db, session))?.key ?? null;
  requireSignature(key, 'SinettiSubmittedCommit', content, Buffer.from(signature, 'base64url'));
}

/**
 * Has the session's device itself say what the person's devices know together: {uint8 version = 2, opaque certificate<V>,
 * opaque sealed<V>, opaque signature<V>}; in version 3 {opaque hash[32]} segments<V> stand before the signature.
 * @returns the hashes of the segments, in hexadecimal; null for a whole state
 * @throws ApiError forbidden
 */
export async function requireSignedState(
  db: Db,
  session: DeviceSession,
  state: Buffer,
): Promise<string[] | null> {
  const device = await signerOf(db, session);
  if (device === null) throw notSigned();
  const body = state.subarray(0, Math.max(0, state.length - signatureLength));
  const isOfDevice = startsWith(body.subarray(1), opaque(device.certificate));
  if (!isOfDevice || !isSignedStatement(device.key, 'SinettiAccountState', body, state)) throw notSigned();
  if (body[0] === stateVersion) return null;
  const fields = body[0] === segmentedStateVersion ? opaquesIn(body.subarray(1), 3) : null;
  const [, , hashes] = fields ?? [];
  if (fields?.length !== 3 || hashes === undefined || hashes.length % hashLength !== 0) throw notSigned();
  return Array.from({ length: hashes.length / hashLength }, (_, at) =>
    hashes.toString('hex', at * hashLength, (at + 1) * hashLength),
  );
}

/**
 * Has the session's device itself say the person's name: {uint8 version = 1, opaque certificate<V>, opaque username<V>, uint32
 * revision, opaque signature<V>}. @returns the revision @throws ApiError forbidden, also for another name than the person's
 */
export async function requireSignedName(
  db: Db,
  session: DeviceSession,
  username: string,
  signedName: Buffer,
): Promise<number> {
  const device = await signerOf(db, session);
  if (device === null) throw notSigned();
  const start = startOfName(device.certificate, username);
  const body = signedName.subarray(0, start.length + revisionLength);
  const isOfPerson = startsWith(body, start);
  if (!isOfPerson || !isSignedStatement(device.key, 'SinettiSignedName', body, signedName)) throw notSigned();
  return body.readUInt32BE(start.length);
}

/** Returns the revision of a name that was required to be signed; 0 where none of these devices has signed it. */
export function revisionOfName(
  devices: readonly Pick<DeviceRow, 'certificate'>[],
  username: string,
  signedName: Buffer,
): number {
  const starts = devices.map(({ certificate }) => startOfName(certificate, username));
  const start = starts.find((bytes) => startsWith(signedName, bytes));
  return start === undefined ? 0 : signedName.readUInt32BE(start.length);
}

function startOfName(certificate: Buffer, username: string): Buffer {
  return Buffer.concat([Buffer.of(version), ...[certificate, Buffer.from(username)].map(opaque)]);
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start);
}

/** Null for a device that is not registered, or under a certificate of another. */
async function signerOf(db: Db, { deviceId, userId }: Pick<DeviceSession, 'deviceId' | 'userId'>) {
  const device = await findDevice(db, deviceId);
  const key = device === null ? null : deviceKeyOf(device.certificate, { userId, deviceId });
  return device === null || key === null ? null : { key, certificate: device.certificate };
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
  const key = (await signerOf(db, { deviceId, userId }))?.key ?? null;
  requireSignature(key, 'SinettiReceipt', content, signature);
}

/**
 * Has the session's device itself say which copies take the place of others: a stolen token deletes none.
 * @throws ApiError forbidden
 */
export async function requireSignedCopies(
  db: Db,
  session: DeviceSession,
  copies: readonly { readonly id: string; readonly sealed: Buffer }[],
  signature: Buffer,
): Promise<void> {
  const { deviceId, userId } = session;
  const content = Buffer.concat([
    Buffer.of(version),
    ...[userId, deviceId].map((text) => opaque(Buffer.from(text))),
    ...copies.flatMap(({ id, sealed }) => [opaque(Buffer.from(id)), opaque(sha256(sealed))]),
  ]);
  const key = (await signerOf(db, session))?.key ?? null;
  requireSignature(key, 'SinettiReplacedCopies', content, signature);
}

/** A device's word that its person deletes or leaves a group. */
export interface SignedEnding {
  /** The session's, which is used up. */
  readonly nonce: Buffer;
  readonly signature: Buffer;
}

/**
 * Has the session's device itself say that its person deletes or leaves a group, and once: a stolen token ends none, and
 * nobody who has recorded what the device said has the person leave again.
 * @throws ApiError forbidden
 */
export async function requireSignedEnding(
  db: Db,
  session: DeviceSession,
  ending: 'delete' | 'leave',
  {
    conversationId,
    nonce,
    now,
    signature,
  }: SignedEnding & { readonly conversationId: string; readonly now: number },
): Promise<void> {
  const { deviceId, userId } = session;
  const fields = [ending, conversationId, userId, deviceId].map((text) => opaque(Buffer.from(text)));
  const content = Buffer.concat([Buffer.of(endingVersion), ...fields, opaque(nonce)]);
  const key = (await signerOf(db, session))?.key ?? null;
  requireSignature(key, 'SinettiGroupEnding', content, signature);
  if (!(await takeNonce(db, { nonce, sessionId: session.id, now }))) throw notSigned();
}

function requireSignature(
  key: Buffer | null,
  label: string,
  content: Buffer,
  signature: Buffer | null,
): void {
  if (key !== null && signature !== null && isSignedBy(key, signContent(label, content), signature)) return;
  throw notSigned();
}

const notSigned = () => new ApiError('forbidden', 'This is not signed by the device.');

const hashOf = (base64url: string): Buffer => sha256(Buffer.from(base64url, 'base64url'));

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
