// Signs people up at the relay, by its contract, so that they may write to each other.
import { createHash, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';

const bytes = (length) => randomBytes(length).toString('base64url');

/** @typedef {{ id: string, token: string, key: import('node:crypto').KeyObject }} Person */

/** @returns {Promise<Person>} somebody with a registered device */
export async function signUp(api) {
  const username = `u${randomUUID().slice(0, 12)}`;
  const answer = await call(api, 'POST', '/register', {
    username,
    email: `${username}@example.org`,
    password: bytes(32),
    passwordParams: { salt: bytes(16), opsLimit: 3, memLimit: 134_217_728 },
    consent: { privacyConsent: true, consentTimestamp: new Date().toISOString() },
  });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const person = { id: answer.user.id, token: answer.access_token, key: privateKey };
  const deviceId = randomUUID();
  const session = JSON.parse(Buffer.from(person.token.split('.')[1], 'base64url').toString()).sid;
  const deviceKey = Buffer.from(publicKey.export({ format: 'jwk' }).x, 'base64url');
  // The relay reads no more of it than whose key it is.
  const claims = [Buffer.of(1), opaque(person.id), opaque(deviceId), opaque(deviceKey), randomBytes(107)];
  const certificate = Buffer.concat(claims).toString('base64url');
  const signature = signed(person, 'SinettiDeviceSession', ...[person.id, deviceId, session].map(opaque));
  await call(api, 'PUT', `/devices/${deviceId}`, { name: 'bench', certificate, signature }, person);
  return person;
}

/** opaque<V> of RFC 9420 (section 2.1.2), of at most 16,383 bytes. */
function opaque(value) {
  const content = Buffer.from(value);
  const { length } = content;
  return Buffer.concat([
    length < 64 ? Buffer.of(length) : Buffer.of(0x40 | (length >> 8), length & 0xff),
    content,
  ]);
}

/** SignWithLabel of RFC 9420 (section 5.1.2), base64url. */
function signed({ key }, label, ...fields) {
  const content = Buffer.concat([Buffer.of(1), ...fields]);
  return sign(null, Buffer.concat([opaque(`MLS 1.0 ${label}`), opaque(content)]), key).toString('base64url');
}

/** Makes two people contacts, with a started conversation. */
export async function introduce(api, one, other) {
  await call(api, 'POST', `/contacts/request/${other.id}`, undefined, one);
  await call(api, 'POST', `/contacts/request/${one.id}`, undefined, other);
  const [lower, higher] = one.id < other.id ? [one.id, other.id] : [other.id, one.id];
  const conversationId = `direct:${lower}:${higher}`;
  const [commit, groupInfo] = [bytes(500), bytes(500)];
  const hashes = [commit, groupInfo].map((text) =>
    opaque(createHash('sha256').update(Buffer.from(text, 'base64url')).digest()),
  );
  const signature = signed(one, 'SinettiSubmittedCommit', opaque(conversationId), Buffer.alloc(8), ...hashes);
  const body = { epoch: 0, commit, welcomes: [], groupInfo, signature };
  await call(api, 'POST', `/conversations/${conversationId}/commits`, commitBody(body), one);
}

/** A commit's body as it travels (relay/contract/primitives.ts): no more than the relay's contract asks of who has no other use for it. */
function commitBody({ commit, groupInfo, ...body }) {
  const parts = [commit, groupInfo].map((text) => opaque(Buffer.from(text, 'base64url')));
  return Buffer.concat([opaque(JSON.stringify({ ...body, commit: 0, groupInfo: 1 })), ...parts]);
}

async function call(api, method, path, body, person) {
  const isParts = Buffer.isBuffer(body);
  const response = await fetch(`${api}${path}`, {
    method,
    headers: {
      ...(person === undefined ? {} : { authorization: `Bearer ${person.token}` }),
      ...(body === undefined
        ? {}
        : { 'content-type': `application/${isParts ? 'vnd.sinetti.parts' : 'json'}` }),
    },
    ...(body === undefined ? {} : { body: isParts ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
