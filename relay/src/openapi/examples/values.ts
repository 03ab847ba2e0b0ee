import { limits } from '../../../contract/index.ts';

/** base64url of bytes that say what they stand for, repeated to a length. */
const bytes = (label: string, length: number) =>
  Buffer.from(label.repeat(Math.ceil(length / label.length)).slice(0, length)).toString('base64url');

export const ids = {
  aino: '5c7b1f0e-3f0a-4f0b-9d55-0c3d5a1b2e01',
  eero: '9e1c2a4d-6b7f-4d2c-8a11-7f5e3c9b0d02',
  change: '7e9a1c3d-5f6b-4a8c-9d0e-2b4d6f8a1c0a',
  session: '4d6f8b1a-2c3e-4b5d-9a7c-1e2f3a4b5c09',
  device: '2d8f6b3a-91c4-4e7d-b0a2-6c1e4f8d9a03',
  otherDevice: '7a4e9c1d-05b2-4f68-9c3d-8e2f1a7b6c04',
  group: 'b3d5e7f9-1a2c-4b4d-8e6f-0a1b2c3d4e05',
  message: '0f8fad5b-d9cb-469f-a165-70867728950e',
  report: '1f3d5b7a-9c8e-4a6b-8d0f-4e2c6a8b0d0b',
  request: '3c9e7a5b-8d6f-4c2e-a1b0-9f8e7d6c5b06',
  notification: '6e4c2a0b-7d9f-4b1d-8c3e-5a7b9d1f3e07',
  welcome: '8b6d4f2a-1c3e-4a5b-9d7f-2e4c6a8b0d08',
};

export const time = '2026-03-01T12:00:00.000Z';
export const direct = `direct:${ids.aino}:${ids.eero}`;
export const grouped = `group:${ids.group}`;

export const openSession = {
  id: ids.session,
  device_id: ids.device,
  created_at: time,
  last_seen_at: time,
  expires_at: '2026-03-31T12:00:00.000Z',
  current: true,
};
export const authKey = bytes('an authKey ', 32);
export const recoveryAuthKey = bytes('a recovery authKey ', 32);
export const invitationCode = bytes('an invitation ', 16);
export const loginProof = bytes('a login proof ', 48);
export const certificate = bytes('certificate', 11);
export const keyPackage = bytes('KeyPackage', 10);
export const deviceSignature = bytes('signed by the device ', 64);
export const startTag = bytes('start of device ', 16);
export const formerStartTag = bytes('start before it ', 16);
export const statement = bytes('signed statement', 16);
export const sealed = bytes('sealed', 6);
export const signedName = bytes('signed username ', 64);
export const sealedState = bytes('sealed account state ', 64);
export const sealedVault = bytes('sealed vault ', limits.sealedVaultMin);
export const wrap = bytes('wrapped key ', limits.keyWrapMin);
export const proofKey = bytes('a proof key ', 32);
export const proofNonce = bytes('a nonce ', 32);
export const ciphertext = bytes('MLSMessage', 10);
export const groupInfo = bytes('GroupInfo', 9);
export const passwordParams = { salt: bytes('salt', 16), opsLimit: 3, memLimit: 134_217_728 };

export const aino = { id: ids.aino, username: 'aino', email: 'aino@example.org' };
export const eero = { id: ids.eero, username: 'eero', email: 'eero@example.org' };
export const profile = { ...aino, full_name: 'Aino Virtanen', created_at: time };

export const sent = { id: ids.message, seq: 7, epoch: 3, timestamp: time };
export const commit = {
  epoch: 3,
  commit: ciphertext,
  welcomes: [{ deviceIds: [ids.otherDevice], welcome: ciphertext }],
  groupInfo,
  signature: deviceSignature,
};

/** The header of a proof. */
export const proofExample = Buffer.from(
  JSON.stringify({ key: 'password', nonce: proofNonce, replaces: 3, signature: bytes('a signature ', 64) }),
).toString('base64url');

export const blobId = 'c2VhbGVkIGZpbGUsIG9uZQ';
