import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits, proofHeader, proofNonceLifetime, type Vault } from '../../contract/index.ts';
import { proofMessage } from '../../src/auth/proofs.ts';
import { createPurgeJob } from '../../src/jobs/purge.ts';
import {
  base64Url,
  call,
  logIn,
  onAnotherDevice,
  type Person,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { createGroup } from '../http/conversation.ts';
import { type Nonce, type Proving, proofFor, proofKeyOf, signedProof } from '../proofs.ts';

let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
let person: PersonOnDevice;
let thief: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
});
afterAll(() => relay.close());
beforeEach(async () => {
  person = await signUpOnDevice(relay);
  thief = await signUpOnDevice(relay);
  await put(person, 0);
});

const passwordParams = { salt: base64Url(16), opsLimit: 3, memLimit: 134_217_728 };
const sealedVault = () => base64Url(limits.sealedVaultMin);
const wrap = () => base64Url(limits.keyWrapMin);

function recoveryKey() {
  const recoveryAuthKey = base64Url(32);
  return { recoveryAuthKey, recoveryProofKey: proofKeyOf(recoveryAuthKey), recoveryWrap: wrap() };
}

async function put(owner: Person, version: number, changes: object = {}): Promise<void> {
  const body = { version, sealedVault: sealedVault(), passwordWrap: wrap(), recoveryWrap: null, ...changes };
  const { status } = await owner.call('PUT', '/vault', body);
  if (status !== 200) throw new Error(`storing the vault answered ${status}`);
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

const operationOf = ({ method, path }: Request) => `${method} ${path}`;

/** Sends a request with the person's token, and whatever is given for a proof. */
const send = ({ method, path, body }: Request, proof: string | null, token = person.token) =>
  call(relay, method, path, {
    token,
    ...(body === undefined ? {} : { body }),
    ...(proof === null ? {} : { headers: { [proofHeader]: proof } }),
  });

const proving = (changes: Partial<Proving> = {}): Proving => ({
  token: person.token,
  authKey: person.password,
  ...changes,
});

const prove = (request: Request, changes?: Partial<Proving>) =>
  proofFor(relay, proving(changes), { operation: operationOf(request), body: request.body });

const purge = () =>
  createPurgeJob({ db: relay.relay.database.db, clock: () => now, log: relay.relay.app.log }).run();

const nonceOf = async ({ token }: Person) =>
  (await call<Nonce>(relay, 'POST', '/proof-nonce', { token })).body;

const required = { status: 403, body: { code: 'proof-required' } };
const refused = { status: 403, body: { code: 'proof-refused' } };

const operations: readonly (readonly [string, () => Request | Promise<Request>])[] = [
  [
    'replacing the vault',
    () => ({ method: 'PUT', path: '/vault', body: { version: 1, sealedVault: sealedVault() } }),
  ],
  [
    'replacing the recovery key',
    () => ({
      method: 'PUT',
      path: '/vault',
      body: { version: 1, sealedVault: sealedVault(), ...recoveryKey() },
    }),
  ],
  [
    'changing the password',
    () => ({
      method: 'PUT',
      path: '/users/me/password',
      body: {
        currentPassword: person.password,
        password: base64Url(32),
        passwordParams,
        passwordProofKey: base64Url(32),
        passwordWrap: wrap(),
        version: 1,
      },
    }),
  ],
  [
    'changing the email',
    () => ({
      method: 'PUT',
      path: '/users/me',
      body: { username: person.username, email: `${randomUUID()}@example.org` },
    }),
  ],
  [
    'revoking a device',
    async () => ({
      method: 'DELETE',
      path: `/devices/${(await onAnotherDevice(relay, person)).deviceId}`,
      body: { statement: base64Url(200) },
    }),
  ],
  ['deleting the message backup', () => ({ method: 'DELETE', path: '/history' })],
  ['deleting the account', () => ({ method: 'DELETE', path: '/user' })],
  ['reading the wraps', () => ({ method: 'GET', path: '/vault/wraps' })],
  [
    'reading the former vault',
    async () => {
      await put(person, 1);
      return { method: 'GET', path: '/vault/former' };
    },
  ],
];

describe.each(operations)('%s', (_name, requestOf) => {
  let request: Request;
  beforeEach(async () => {
    request = await requestOf();
  });

  it('succeeds with a proof by the password', async () => {
    expect((await send(request, await prove(request))).status).toBeLessThan(300);
  });

  it('is refused by the session alone, and changes nothing', async () => {
    const before = await stateOf(person);
    expect(await send(request, null)).toMatchObject(required);
    expect(await stateOf(person)).toEqual(before);
  });

  it('is refused with a proof that somebody made who has the token and not the password', async () => {
    const before = await stateOf(person);
    const guessed = await prove(request, { authKey: base64Url(32) });
    expect(await send(request, guessed)).toMatchObject(refused);
    expect(await send(request, await prove(request, { authKey: thief.password }))).toMatchObject(refused);
    expect(await stateOf(person)).toEqual(before);
  });

  it("is refused with another operation's proof", async () => {
    const other = { ...request, method: 'POST' };
    expect(await send(request, await prove(other))).toMatchObject(refused);
  });

  it("is refused with another body's proof", async () => {
    const other = { ...request, body: { ...request.body, version: 9 } };
    expect(await send(request, await prove(other))).toMatchObject(refused);
  });

  it('is refused with a proof over another version of the vault', async () => {
    const nonce = await nonceOf(person);
    const proven = { operation: operationOf(request), body: request.body };
    const older = signedProof(proving(), proven, { ...nonce, version: nonce.version - 1 });
    expect(await send(request, older)).toMatchObject(refused);
  });

  it('is refused with a proof that is two minutes old', async () => {
    const proof = await prove(request);
    now += proofNonceLifetime;
    expect(await send(request, proof)).toMatchObject(refused);
  });

  it('is refused with a proof made in another session', async () => {
    const other = await logIn(relay, person);
    expect(await send(request, await prove(request, { token: other.token }))).toMatchObject(refused);
    // Nor with this session's nonce signed for the other one, nor the other way round.
    const [here, there] = [await nonceOf(person), await nonceOf(other)];
    const proven = { operation: operationOf(request), body: request.body };
    for (const mixed of [
      { ...here, session: there.session },
      { ...there, session: here.session },
    ]) {
      expect(await send(request, signedProof(proving(), proven, mixed))).toMatchObject(refused);
    }
  });

  it('is refused with what is no proof', async () => {
    for (const proof of ['x', '!!', Buffer.from('{}').toString('base64url'), 'A'.repeat(2000)]) {
      expect(await send(request, proof)).toMatchObject(refused);
    }
  });
});

/** What an attacker would have changed. */
async function stateOf(owner: PersonOnDevice) {
  const read = async (path: string) => (await owner.call('GET', path)).body;
  return [await read('/vault'), await read('/profile'), await read('/devices')];
}

describe('a proof', () => {
  const request = () => ({
    method: 'PUT',
    path: '/users/me',
    body: { username: person.username, email: `${randomUUID()}@example.org` },
  });

  it('is good once', async () => {
    const email = request();
    const proof = await prove(email);
    expect((await send(email, proof)).status).toBe(200);
    const again = { ...email, body: { ...email.body, username: person.username } };
    await person.call('PUT', '/users/me', { username: person.username, email: person.email });
    expect(await send(again, proof)).toMatchObject(refused);
  });

  it('is used up by a request that it was not made for', async () => {
    const email = request();
    const proof = await prove(email);
    expect(await send(request(), proof)).toMatchObject(refused);
    expect(await send(email, proof)).toMatchObject(refused);
  });

  it('may be made by the recovery key', async () => {
    const key = recoveryKey();
    await put(person, 1, key);
    const email = request();
    const byRecovery = { authKey: key.recoveryAuthKey, key: 'recovery' } as const;
    expect((await send(email, await prove(email, byRecovery))).status).toBe(200);
    const other = request();
    expect(await send(other, await prove(other, { key: 'recovery' }))).toMatchObject(refused);
  });

  it('by a recovery key that there is not is refused', async () => {
    const email = request();
    expect(await send(email, await prove(email, { key: 'recovery' }))).toMatchObject(required);
  });

  it('slows down whoever guesses the password by it', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 60 && !statuses.includes(429); count++) {
      const email = request();
      statuses.push((await send(email, await prove(email, { authKey: base64Url(32) }))).status);
    }
    expect(new Set(statuses)).toEqual(new Set([403, 429]));
    expect((await logIn(relay, person)).id).toBe(person.id);
  });

  it('signs the same bytes as the client does', () => {
    // crypto-core/test/account/proof.test.ts has the same claims and signature.
    const message = proofMessage({
      operation: 'PUT /vault',
      bodyHash: Buffer.from('9af23cea10a478f3bb916ff35c07a36debe444adf9b56814ab63861ec674ab8b', 'hex'),
      replaces: 3,
      session: '0f8fad5b-d9cb-469f-a165-70867728950e',
      nonce: new Uint8Array(32).fill(9),
    });
    const x = Buffer.from('ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c', 'hex');
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') },
      format: 'jwk',
    });
    const signature = Buffer.from(
      'c452448d04de7b17faa3679eb149a0efa14cefa6709c2c6404555bf5712784596f8a9dd9e5fcb9ceddd00661d692c88c6be33ee3a2ab16e08bf62f9effdcac03',
      'hex',
    );
    expect(verify(null, message, key, signature)).toBe(true);
  });
});

describe('a nonce', () => {
  it('is another one each time, and tells what a proof signs', async () => {
    const [one, other] = [await nonceOf(person), await nonceOf(person)];
    const { id: session } = await relay.relay.services.sessions.verify(person.token);
    expect(one).toEqual({ nonce: expect.any(String), session, version: 1, passwordKey: true });
    expect(other.nonce).not.toBe(one.nonce);
  });

  it('is deleted when its session asks for another one after it has expired', async () => {
    const { session } = await nonceOf(person);
    now += proofNonceLifetime;
    await nonceOf(person);
    const rows = await relay.relay.database.db
      .selectFrom('proof_nonces')
      .select('expires_at')
      .where('session_id', '=', session)
      .execute();
    expect(rows).toEqual([{ expires_at: now + proofNonceLifetime }]);
  });

  it('is deleted by the purge job once it has expired', async () => {
    await nonceOf(person);
    now += proofNonceLifetime;
    await purge();
    const rows = await relay.relay.database.db.selectFrom('proof_nonces').selectAll().execute();
    expect(rows).toEqual([]);
  });
});

describe('a stolen token', () => {
  const steal = () => ({
    call: <T>(method: string, path: string, body?: unknown) =>
      call<T>(relay, method, path, { token: person.token, ...(body === undefined ? {} : { body }) }),
  });

  it('sets no recovery key to recover the account by', async () => {
    const stolen = steal();
    const key = recoveryKey();
    const { body: vault } = await stolen.call<Vault>('GET', '/vault');
    const body = { version: vault.version, sealedVault: vault.sealedVault, ...key };
    expect(await stolen.call('PUT', '/vault', body)).toMatchObject(required);
    const recovery = { email: person.email, ...key, recoveryWrap: undefined };
    expect(await call(relay, 'POST', '/recovery', { body: recovery })).toMatchObject({
      status: 401,
      body: { code: 'wrong-credentials' },
    });
  });

  it('gives a vault without its wraps, whoever holds it', async () => {
    const stolen = steal();
    expect(Object.keys((await stolen.call<Vault>('GET', '/vault')).body).toSorted()).toEqual([
      'hasRecoveryKey',
      'sealedVault',
      'version',
    ]);
    expect(await stolen.call('GET', '/vault/wraps')).toMatchObject(required);
  });

  it('stores no proof key of its own', async () => {
    const own = base64Url(32);
    const login = { email: person.username, password: own, passwordProofKey: proofKeyOf(own) };
    expect((await call(relay, 'POST', '/login', { token: person.token, body: login })).status).toBe(401);
    const request = { method: 'DELETE', path: '/user' };
    expect(await send(request, await prove(request, { authKey: own }))).toMatchObject(refused);
  });
});

describe('an account from before there were proofs', () => {
  const request = { method: 'DELETE', path: '/user' };

  beforeEach(async () => {
    person = await signUpOnDevice(relay, { passwordProofKey: undefined });
    await put(person, 0);
  });

  it('does nothing that takes a proof until a log-in has told its proof key', async () => {
    expect(await nonceOf(person)).toMatchObject({ passwordKey: false });
    expect(await send(request, await prove(request))).toMatchObject(required);
    const body = { email: person.username, password: person.password };
    await call(relay, 'POST', '/login', { body });
    expect(await nonceOf(person)).toMatchObject({ passwordKey: false });
    await call(relay, 'POST', '/login', { body: { ...body, passwordProofKey: proofKeyOf(person.password) } });
    expect(await nonceOf(person)).toMatchObject({ passwordKey: true });
    expect((await send(request, await prove(request))).status).toBe(204);
  });

  it('keeps the first proof key that a log-in has told', async () => {
    const body = { email: person.username, password: person.password };
    for (const key of [proofKeyOf(person.password), base64Url(32)]) {
      await call(relay, 'POST', '/login', { body: { ...body, passwordProofKey: key } });
    }
    expect((await send(request, await prove(request))).status).toBe(204);
  });

  it('is recovered by a recovery key whose proof key the recovery tells', async () => {
    await call(relay, 'POST', '/login', {
      body: {
        email: person.username,
        password: person.password,
        passwordProofKey: proofKeyOf(person.password),
      },
    });
    const { recoveryProofKey, ...key } = recoveryKey();
    await put(person, 1, key);
    const body = { email: person.email, recoveryAuthKey: key.recoveryAuthKey, recoveryProofKey };
    const recovered = await call<{ access_token: string }>(relay, 'POST', '/recovery', { body });
    const change = {
      method: 'PUT',
      path: '/users/me/password',
      body: {
        password: base64Url(32),
        passwordParams,
        passwordProofKey: base64Url(32),
        passwordWrap: wrap(),
        version: 2,
      },
    };
    const token = recovered.body.access_token;
    expect(await send(change, null, token)).toMatchObject(required);
    const byRecovery = { token, authKey: key.recoveryAuthKey, key: 'recovery' } as const;
    expect((await send(change, await prove(change, byRecovery), token)).status).toBe(200);
  });
});

describe('without a proof', () => {
  it('the first vault is stored, and no second', async () => {
    const other = await signUpOnDevice(relay);
    const first = { version: 0, sealedVault: sealedVault(), passwordWrap: wrap(), recoveryWrap: null };
    const request = { method: 'PUT', path: '/vault', body: first };
    expect((await send(request, null, other.token)).status).toBe(200);
    expect(await send(request, null, other.token)).toMatchObject({ status: 409, body: { version: 1 } });
  });

  it('the username is changed, as long as the email stays', async () => {
    const body = { username: `uusi${randomUUID().slice(0, 8)}`, email: person.email.toUpperCase() };
    expect((await send({ method: 'PUT', path: '/users/me', body }, null)).status).toBe(200);
  });

  it('a device revokes itself', async () => {
    const body = { statement: base64Url(200) };
    const request = { method: 'DELETE', path: `/devices/${person.deviceId}`, body };
    expect((await send(request, null)).status).toBe(204);
  });

  it('a session that has just proven the password reads the wraps until it has a device', async () => {
    const fresh = await logIn(relay, person);
    const request = { method: 'GET', path: '/vault/wraps' };
    expect(await send(request, null, fresh.token)).toMatchObject({
      status: 200,
      body: { recoveryWrap: null },
    });
    const device = { name: 'A browser', certificate: base64Url(200) };
    await fresh.call('PUT', `/devices/${randomUUID()}`, device);
    expect(await send(request, null, fresh.token)).toMatchObject(required);
  });
});

describe('the message backup', () => {
  const copy = (conversationId: string) => ({ id: randomUUID(), conversationId, sealed: base64Url(90) });
  const store = (items: object[], on?: true) => person.call('PUT', '/history', { items, on });
  const remove = (query = '') => send({ method: 'DELETE', path: `/history${query}` }, null);
  const group = () => `group:${randomUUID()}`;

  it('loses the copies of a conversation without a proof only once the person is not in it', async () => {
    const groupId = await createGroup(person);
    const query = `?conversationId=group:${groupId}`;
    await store([copy(`group:${groupId}`), copy(group())]);
    expect(await remove(query)).toMatchObject(required);
    await person.call('DELETE', `/group/${groupId}`);
    expect((await remove(query)).status).toBe(204);
    expect((await person.call<unknown[]>('GET', '/history')).body).toHaveLength(1);
  });

  it('that is off loses what a device leaves late, until it is switched on again', async () => {
    await store([copy(group())]);
    expect(await remove()).toMatchObject(required);
    expect((await person.call('DELETE', '/history')).status).toBe(204);
    await store([copy(group())]);
    expect((await remove()).status).toBe(204);
    await store([copy(group())], true);
    expect(await remove()).toMatchObject(required);
    expect((await person.call<unknown[]>('GET', '/history')).body).toHaveLength(1);
  });
});

describe('the vault', () => {
  it('is not smaller than any real one', async () => {
    for (const change of [
      { sealedVault: base64Url(4) },
      { sealedVault: base64Url(limits.sealedVaultMin - 1) },
      { passwordWrap: base64Url(limits.keyWrapMin - 1) },
      { recoveryWrap: base64Url(4) },
    ]) {
      const body = { version: 1, sealedVault: sealedVault(), ...change };
      expect(await person.call('PUT', '/vault', body)).toMatchObject({
        status: 422,
        body: { code: 'invalid-request' },
      });
    }
  });

  it('keeps the one before for seven days', async () => {
    const { sealedVault: former } = (await person.call<Vault>('GET', '/vault')).body;
    await put(person, 1);
    expect(await person.call('GET', '/vault/former')).toMatchObject({
      status: 200,
      body: { version: 1, sealedVault: former, replaced_at: new Date(now).toISOString() },
    });
    now += 7 * 24 * 60 * 60 * 1000 - 1;
    await purge();
    expect((await person.call('GET', '/vault/former')).status).toBe(200);
    now += 1;
    await purge();
    expect((await person.call('GET', '/vault/former')).status).toBe(404);
  });
});
