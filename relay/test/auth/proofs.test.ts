import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { proofNonceLifetime } from '../../contract/index.ts';
import { proofMessage } from '../../src/auth/proofs.ts';
import { revocationOf } from '../devices.ts';
import { base64Url, logIn, onAnotherDevice, type PersonOnDevice, rotatedVault } from '../helpers.ts';
import { signedProof } from '../proofs.ts';
import {
  nonceOf,
  operationOf,
  passwordParams,
  prove,
  proving,
  purge,
  put,
  type Request,
  recoveryKey,
  refused,
  required,
  sealedVault,
  send,
  withProofWorld,
  world,
} from './proofWorld.ts';

withProofWorld();

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
        currentPassword: world.person.password,
        password: base64Url(32),
        passwordParams,
        passwordProofKey: base64Url(32),
        vault: rotatedVault(1),
      },
    }),
  ],
  [
    'changing the username',
    () => ({
      method: 'PUT',
      path: '/users/me',
      body: { username: `uusi${randomUUID().slice(0, 8)}`, email: world.person.email },
    }),
  ],
  [
    'changing the email',
    () => ({
      method: 'PUT',
      path: '/users/me',
      body: { username: world.person.username, email: `${randomUUID()}@example.org` },
    }),
  ],
  [
    'revoking a device',
    async () => {
      const { deviceId } = await onAnotherDevice(world.relay, world.person);
      const body = { statement: revocationOf(world.person, deviceId) };
      return { method: 'DELETE', path: `/devices/${deviceId}`, body };
    },
  ],
  ['deleting the message backup', () => ({ method: 'DELETE', path: '/history' })],
  ['deleting the account', () => ({ method: 'DELETE', path: '/user' })],
  ['reading the wraps', () => ({ method: 'GET', path: '/vault/wraps' })],
  [
    'reading the former vault',
    async () => {
      await put(world.person, 1);
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
    const before = await stateOf(world.person);
    expect(await send(request, null)).toMatchObject(required);
    expect(await stateOf(world.person)).toEqual(before);
  });

  it('is refused with a proof that somebody made who has the token and not the password', async () => {
    const before = await stateOf(world.person);
    const guessed = await prove(request, { authKey: base64Url(32) });
    expect(await send(request, guessed)).toMatchObject(refused);
    expect(await send(request, await prove(request, { authKey: world.thief.password }))).toMatchObject(
      refused,
    );
    expect(await stateOf(world.person)).toEqual(before);
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
    const nonce = await nonceOf(world.person);
    const proven = { operation: operationOf(request), body: request.body };
    const older = signedProof(proving(), proven, { ...nonce, version: nonce.version - 1 });
    expect(await send(request, older)).toMatchObject(refused);
  });

  it('is refused with a proof that is two minutes old', async () => {
    const proof = await prove(request);
    world.now += proofNonceLifetime;
    expect(await send(request, proof)).toMatchObject(refused);
  });

  it('is refused with a proof made in another session', async () => {
    const other = await logIn(world.relay, world.person);
    expect(await send(request, await prove(request, { token: other.token }))).toMatchObject(refused);
    // Nor with this session's nonce signed for the other one, nor the other way round.
    const [here, there] = [await nonceOf(world.person), await nonceOf(other)];
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

/** Reads what an attacker would have changed. */
async function stateOf(owner: PersonOnDevice) {
  const read = async (path: string) => (await owner.call('GET', path)).body;
  return [await read('/vault'), await read('/profile'), await read('/devices')];
}

describe('a proof', () => {
  const request = () => ({
    method: 'PUT',
    path: '/users/me',
    body: { username: world.person.username, email: `${randomUUID()}@example.org` },
  });

  it('is good once', async () => {
    const email = request();
    const proof = await prove(email);
    expect((await send(email, proof)).status).toBe(200);
    const again = { ...email, body: { ...email.body, username: world.person.username } };
    await world.person.call('PUT', '/users/me', {
      username: world.person.username,
      email: world.person.email,
    });
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
    await put(world.person, 1, key);
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
    expect((await logIn(world.relay, world.person)).id).toBe(world.person.id);
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
    const [one, other] = [await nonceOf(world.person), await nonceOf(world.person)];
    const { id: session } = await world.relay.relay.services.sessions.verify(world.person.token);
    expect(one).toEqual({ nonce: expect.any(String), session, version: 1, passwordKey: true });
    expect(other.nonce).not.toBe(one.nonce);
  });

  it('is deleted when its session asks for another one after it has expired', async () => {
    const { session } = await nonceOf(world.person);
    world.now += proofNonceLifetime;
    await nonceOf(world.person);
    const rows = await world.relay.relay.database.db
      .selectFrom('proof_nonces')
      .select('expires_at')
      .where('session_id', '=', session)
      .execute();
    expect(rows).toEqual([{ expires_at: world.now + proofNonceLifetime }]);
  });

  it('is deleted by the purge job once it has expired', async () => {
    await nonceOf(world.person);
    world.now += proofNonceLifetime;
    await purge();
    const rows = await world.relay.relay.database.db.selectFrom('proof_nonces').selectAll().execute();
    expect(rows).toEqual([]);
  });
});
