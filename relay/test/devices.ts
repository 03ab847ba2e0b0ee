import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { signContent } from '../src/auth/signedContent.ts';
import { opaque } from '../src/opaque.ts';
import { call } from './call.ts';

/** The relay that is called, at a URL without a slash at the end. */
interface Called {
  readonly url: string;
}

/** DER of an Ed25519 private key (RFC 8410) up to its 32 bytes. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** An Ed25519 private key, always the same of the same words. */
export function privateKeyOf(...words: readonly string[]): KeyObject {
  const seed = createHash('sha256').update(words.join(' ')).digest();
  return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
}

/** The 32 bytes of the public half. */
export function publicKeyOf(key: KeyObject): Buffer {
  const { x } = createPublicKey(key).export({ format: 'jwk' });
  if (x === undefined) throw new Error('not an Ed25519 key');
  return Buffer.from(x, 'base64url');
}

const deviceKeyOf = (deviceId: string) => privateKeyOf('device', deviceId);

/**
 * A device certificate as clients make it, base64url.
 * @param accountKey the person's; `signer`, the key that has really signed it
 */
export function certificateOf(
  userId: string,
  deviceId: string,
  accountKey = privateKeyOf('account', userId),
  signer = accountKey,
): string {
  const body = Buffer.concat([
    Buffer.of(1),
    opaque(Buffer.from(userId)),
    opaque(Buffer.from(deviceId)),
    opaque(publicKeyOf(deviceKeyOf(deviceId))),
    opaque(publicKeyOf(accountKey)),
    Buffer.alloc(8),
  ]);
  const signature = sign(null, signContent('SinettiDeviceCertificate', body), signer);
  return Buffer.concat([body, opaque(signature)]).toString('base64url');
}

/** The account key's word that a device is revoked, base64url. */
export function revocationOf(
  { id }: { readonly id: string },
  deviceId: string,
  accountKey = privateKeyOf('account', id),
): string {
  const fields = [Buffer.from(id), Buffer.from(deviceId), publicKeyOf(accountKey)];
  return statementOf('SinettiDeviceRevocation', accountKey, Buffer.of(1), ...fields.map(opaque));
}

interface OnDevice {
  readonly deviceId: string;
  readonly certificate: string;
}

/** An account state as the device signs it, base64url. @param length of what is sealed */
export function signedState({ certificate, deviceId }: OnDevice, length = 90): string {
  const fields = [Buffer.from(certificate, 'base64url'), randomBytes(length)];
  return statementOf('SinettiAccountState', deviceKeyOf(deviceId), Buffer.of(2), ...fields.map(opaque));
}

/** An account state in segments as the device signs it, which names them by their hashes, base64url. */
export function signedSegments({ certificate, deviceId }: OnDevice, segments: readonly string[]): string {
  const hashes = segments.map((text) => createHash('sha256').update(Buffer.from(text, 'base64url')).digest());
  const fields = [Buffer.from(certificate, 'base64url'), randomBytes(55), Buffer.concat(hashes)];
  return statementOf('SinettiAccountState', deviceKeyOf(deviceId), Buffer.of(3), ...fields.map(opaque));
}

/** A username as the device signs it, base64url. */
export function signedName({ certificate, deviceId }: OnDevice, username: string, revision = 1): string {
  const fields = [Buffer.from(certificate, 'base64url'), Buffer.from(username)];
  const body = [Buffer.of(1), ...fields.map(opaque), Buffer.of(0, 0, 0, revision)];
  return statementOf('SinettiSignedName', deviceKeyOf(deviceId), ...body);
}

function statementOf(label: string, signer: KeyObject, ...fields: readonly Buffer[]): string {
  const body = Buffer.concat(fields);
  return Buffer.concat([body, opaque(sign(null, signContent(label, body), signer))]).toString('base64url');
}

const signedBy = (deviceId: string, label: string, ...fields: readonly Buffer[]): string =>
  signedInVersion(1, deviceId, label, ...fields);

function signedInVersion(
  version: number,
  deviceId: string,
  label: string,
  ...fields: readonly Buffer[]
): string {
  const content = Buffer.concat([Buffer.of(version), ...fields]);
  return sign(null, signContent(label, content), deviceKeyOf(deviceId)).toString('base64url');
}

/** The device's word for copies that take the place of others. */
export function copiesSignature(
  token: string,
  deviceId: string,
  copies: readonly { readonly id: string; readonly sealed: string }[],
): string {
  const fields = copies.flatMap(({ id, sealed }) => [
    Buffer.from(id),
    createHash('sha256').update(Buffer.from(sealed, 'base64url')).digest(),
  ]);
  const whose = [claimsOf(token).sub, deviceId].map((text) => Buffer.from(text));
  return signedBy(deviceId, 'SinettiReplacedCopies', ...[...whose, ...fields].map(opaque));
}

/** The device's word that it takes the session of a token. */
export function sessionSignature(token: string, deviceId: string): string {
  const { sid, sub } = claimsOf(token);
  const fields = [sub, deviceId, sid].map((text) => opaque(Buffer.from(text)));
  return signedBy(deviceId, 'SinettiDeviceSession', ...fields);
}

/** The id of the session that a token is of. */
export const sessionOf = (token: string): string => claimsOf(token).sid;

function claimsOf(token: string): { sid: string; sub: string } {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  return JSON.parse(payload) as { sid: string; sub: string };
}

/** A start's body with the signature of its device. */
export function signedStart(
  { deviceId, id: userId }: { readonly deviceId: string; readonly id: string },
  { from, number, tag }: { readonly from: readonly string[]; readonly number: number; readonly tag: string },
) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  const signature = signedBy(
    deviceId,
    'SinettiDeviceStart',
    ...[userId, deviceId].map((text) => opaque(Buffer.from(text))),
    bytes,
    opaque(Buffer.from(tag, 'base64url')),
    opaque(Buffer.concat(from.map((text) => Buffer.from(text, 'base64url')))),
  );
  return { from, number, tag, signature };
}

/** The device's word that its data is in two places. */
export function copiedSignature(userId: string, deviceId: string): string {
  const fields = [userId, deviceId].map((text) => opaque(Buffer.from(text)));
  return signedBy(deviceId, 'SinettiDeviceCopied', ...fields);
}

interface Commit {
  readonly epoch: number;
  readonly commit: string;
  readonly groupInfo: string;
}

/** A commit's body with the signature of the device that submits it. */
export function signedCommit<T extends Commit>(deviceId: string, conversationId: string, body: T) {
  const hashOf = (text: string) => createHash('sha256').update(Buffer.from(text, 'base64url')).digest();
  const signature = signedBy(
    deviceId,
    'SinettiSubmittedCommit',
    opaque(Buffer.from(conversationId)),
    uint64(body.epoch),
    opaque(hashOf(body.commit)),
    opaque(hashOf(body.groupInfo)),
  );
  return { ...body, signature };
}

/** A receipt's body, sealed as opaquely as it is to the relay, with the signature of its device. */
export function signedReceipt(
  { deviceId, id }: { readonly deviceId: string; readonly id: string },
  conversationId: string,
  { epoch, position, sealed }: { readonly epoch: number; readonly position: number; readonly sealed: string },
) {
  const signature = signedBy(
    deviceId,
    'SinettiReceipt',
    opaque(Buffer.from(conversationId)),
    uint64(epoch),
    opaque(Buffer.from(id)),
    opaque(Buffer.from(deviceId)),
    uint64(position),
    opaque(Buffer.from(sealed, 'base64url')),
  );
  return { epoch, position, sealed, signature };
}

/** The body of deleting or leaving a group, with the signature of the device. */
export function signedEnding(
  { deviceId, id }: { readonly deviceId: string; readonly id: string },
  ending: 'delete' | 'leave',
  conversationId: string,
  nonce: string,
) {
  const fields = [ending, conversationId, id, deviceId].map((text) => opaque(Buffer.from(text)));
  const content = [...fields, opaque(Buffer.from(nonce, 'base64url'))];
  return { nonce, signature: signedInVersion(2, deviceId, 'SinettiGroupEnding', ...content) };
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** A nonce of a session, or one that is none where the relay gives none. */
export async function nonceFor(relay: Called, token: string): Promise<string> {
  const { body } = await call<{ nonce?: string }>(relay, 'POST', '/proof-nonce', { token });
  return body.nonce ?? Buffer.alloc(32).toString('base64url');
}

/** Adds what the device signs to a request's body that lacks it, where the contract has the request take it. */
export async function withSignature(
  relay: Called,
  { deviceId, token }: { readonly deviceId: string | null; readonly token: string },
  method: string,
  path: string,
  body: unknown,
): Promise<unknown> {
  const [, ended, leave] = /^\/group\/([^/]+)(\/leave)?$/.exec(path) ?? [];
  if (method === 'DELETE' && ended !== undefined && body === undefined) {
    return withSignature(relay, { deviceId, token }, method, path, {});
  }
  if (typeof body !== 'object' || body === null || 'signature' in body) return body;
  if (method === 'DELETE' && ended !== undefined && deviceId !== null) {
    const ending = leave === undefined ? 'delete' : 'leave';
    const nonce = await nonceFor(relay, token);
    return {
      ...body,
      ...signedEnding({ deviceId, id: claimsOf(token).sub }, ending, `group:${ended}`, nonce),
    };
  }
  const [, device] = /^\/devices\/([^/]+)$/.exec(path) ?? [];
  if (method === 'PUT' && device !== undefined)
    return { ...body, signature: sessionSignature(token, device) };
  const [, conversation] = /^\/conversations\/([^/]+)\/commits$/.exec(path) ?? [];
  const [, group] = /^\/group\/([^/]+)\/add$/.exec(path) ?? [];
  const conversationId = group === undefined ? conversation : `group:${group}`;
  return deviceId !== null && conversationId !== undefined && isCommit(body)
    ? signedCommit(deviceId, conversationId, body)
    : body;
}

function isCommit(body: object): body is Commit {
  return (
    'epoch' in body &&
    Number.isInteger(body.epoch) &&
    Number(body.epoch) >= 0 &&
    'commit' in body &&
    typeof body.commit === 'string' &&
    'groupInfo' in body &&
    typeof body.groupInfo === 'string'
  );
}
