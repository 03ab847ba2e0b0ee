// Signs people up at the relay, by its contract, so that they may write to each other.
import { randomBytes, randomUUID } from 'node:crypto';

const bytes = (length) => randomBytes(length).toString('base64url');

/** @typedef {{ id: string, token: string }} Person */

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
  const person = { id: answer.user.id, token: answer.access_token };
  await call(api, 'PUT', `/devices/${randomUUID()}`, { name: 'bench', certificate: bytes(200) }, person);
  return person;
}

/** Makes two people contacts, with a started conversation. */
export async function introduce(api, one, other) {
  await call(api, 'POST', `/contacts/request/${other.id}`, undefined, one);
  await call(api, 'POST', `/contacts/request/${one.id}`, undefined, other);
  const [lower, higher] = one.id < other.id ? [one.id, other.id] : [other.id, one.id];
  const commit = { epoch: 0, commit: bytes(500), welcomes: [], groupInfo: bytes(500) };
  await call(api, 'POST', `/conversations/direct:${lower}:${higher}/commits`, commit, one);
}

async function call(api, method, path, body, person) {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: {
      ...(person === undefined ? {} : { authorization: `Bearer ${person.token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
