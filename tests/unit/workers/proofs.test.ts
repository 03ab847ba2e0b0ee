import { createHash } from 'node:crypto';
import { verifyProof } from '@sinetti/crypto-core/account';
import { describe, expect, it } from 'vitest';
import type { CryptoApi, OperationKind, ProofRequest } from '#workers/api/cryptoApi.ts';
import { CryptoApiError } from '#workers/api/errors.ts';
import { Browser, Clock } from './support/browser.ts';
import { ALICE, BOB, CAROL, createPair, PASSWORD, type TestDevice } from './support/device.ts';

const MINUTE = 60 * 1000;

const request: ProofRequest = {
  operation: 'DELETE /user',
  body: '',
  replaces: 7,
  session: '0f8fad5b-d9cb-469f-a165-70867728950e',
  nonce: Buffer.alloc(32, 9).toString('base64url'),
};

const freshBrowser = () => new Browser('another browser', new Clock()).tab();

const decode = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));

interface Header {
  readonly key: string;
  readonly nonce: string;
  readonly replaces: number;
  readonly signature: string;
}

/** Returns what the header says, and whether a proof key has signed the request. */
function read(header: string, proofKey: string, { operation, body, replaces, session }: ProofRequest) {
  const { signature, ...said } = JSON.parse(Buffer.from(header, 'base64url').toString()) as Header;
  const bodyHash = new Uint8Array(createHash('sha256').update(body).digest());
  const claims = { operation, bodyHash, replaces, session, nonce: decode(said.nonce) };
  return { ...said, isSigned: verifyProof(decode(proofKey), claims, decode(signature)) };
}

/** Signs a request with this method, target and body; null when it is refused. */
async function sign(api: CryptoApi, operation: string, body: object | null = null): Promise<string | null> {
  const text = body === null ? '' : JSON.stringify(body);
  try {
    return await api.signPendingProof({ ...request, operation, body: text });
  } catch (error) {
    if (error instanceof CryptoApiError && error.code === 'usage') return null;
    throw error;
  }
}

describe('a proof by the password', () => {
  it('is signed by the key that logging in tells the relay', async () => {
    const { alice, relay } = await createPair();
    const keys = await freshBrowser().beginLogin(PASSWORD, relay.passwordParams.get(ALICE)!);
    // The page learns nothing by it.
    await expect(alice.confirm('delete-account')).resolves.toBeUndefined();
    const header = await alice.api.signPendingProof(request);
    expect(read(header, keys.proofKey, request)).toEqual({
      key: 'password',
      nonce: request.nonce,
      replaces: 7,
      isSigned: true,
    });
    expect(read(header, keys.proofKey, { ...request, body: '{}' }).isSigned).toBe(false);
  });

  it('is signed once, and within two minutes', async () => {
    const { alice, world } = await createPair();
    expect(await sign(alice.api, 'DELETE /user')).toBeNull();
    await alice.confirm('delete-account');
    expect(await sign(alice.api, 'DELETE /user')).not.toBeNull();
    expect(await sign(alice.api, 'DELETE /user')).toBeNull();
    await alice.confirm('delete-account');
    world.clock.advance(2 * MINUTE);
    expect(await sign(alice.api, 'DELETE /user')).toBeNull();
  });

  it('is forgotten when the browser is locked', async () => {
    const { alice } = await createPair();
    await alice.confirm('delete-account');
    await alice.api.lock();
    expect(await sign(alice.api, 'DELETE /user')).toBeNull();
  });

  it.each([{ operation: '' }, { replaces: -1 }, { session: 'x' }, { nonce: 'AAAA' }])(
    'is refused for a request with %o',
    async (change) => {
      const { alice } = await createPair();
      await alice.confirm('delete-account');
      const wrong = alice.api.signPendingProof({ ...request, ...change });
      await expect(wrong).rejects.toMatchObject({ code: 'usage' });
    },
  );

  it('is signed once by the recovery key after a recovery, for the request that sets the password', async () => {
    const { alice, relay } = await createPair();
    await alice.confirm('create-recovery-key');
    const recoveryKey = alice.browser.typist.asked[0]?.recoveryKey ?? '';
    const {
      recoveryAuthKey: _,
      recoveryProofKey,
      ...rotated
    } = await alice.api.replaceRecoveryKey(alice.vault());
    const api = freshBrowser();
    await api.beginRecovery(recoveryKey);
    const vault = relay.rotate(ALICE, rotated);
    const { authKey, proofKey, ...wrapped } = await api.recoverVault(ALICE, vault, 'a quieter harbour');
    const body = { ...wrapped, password: authKey, passwordProofKey: proofKey };
    expect(await sign(api, 'DELETE /user')).toBeNull();
    expect(await sign(api, 'PUT /users/me/password', { ...body, password: 'A'.repeat(43) })).toBeNull();
    const header = (await sign(api, 'PUT /users/me/password', body)) ?? '';
    const signed = { ...request, operation: 'PUT /users/me/password', body: JSON.stringify(body) };
    expect(read(header, recoveryProofKey, signed)).toMatchObject({ key: 'recovery', isSigned: true });
    expect(await sign(api, 'PUT /users/me/password', body)).toBeNull();
  });
});

describe('a confirmed operation', () => {
  const names = { username: 'alice.l', email: 'alice@sinetti.example' };

  /** Does the worker's part of the operation. @returns the body of its request */
  const parts: Partial<Record<OperationKind, (device: TestDevice, id: string) => Promise<object>>> = {
    'change-names': async () => names,
    'change-password': async (device) => {
      const { authKey, currentAuthKey, proofKey, ...changed } = await device.api.changePassword(
        device.vault(),
      );
      const body = { ...changed, currentPassword: currentAuthKey };
      return { ...body, password: authKey, passwordProofKey: proofKey };
    },
    'create-recovery-key': (device) => device.api.replaceRecoveryKey(device.vault()),
    'revoke-device': (device, deviceId) => device.api.revokeDevice({ vault: device.vault(), deviceId }),
  };

  const operations: readonly [OperationKind, string, string | null][] = [
    ['change-names', 'PUT /users/me', null],
    ['change-password', 'PUT /users/me/password', null],
    ['create-recovery-key', 'PUT /vault', null],
    ['delete-account', 'DELETE /user', null],
    ['delete-message-backup', 'DELETE /history', null],
    ['end-session', `DELETE /sessions/${CAROL}`, CAROL],
    ['revoke-device', `DELETE /devices/${CAROL}`, CAROL],
  ];

  async function confirmed(kind: OperationKind, id: string | null) {
    const { alice } = await createPair();
    alice.browser.typist.knows(PASSWORD, 'a quieter harbour');
    await alice.api.confirm({ kind, target: `${names.username} ${names.email}`, id }, alice.owner());
    const body = (await parts[kind]?.(alice, id ?? '')) ?? null;
    return { alice, body };
  }

  it.each(operations)('%s lets its own request be signed: %s', async (kind, operation, id) => {
    const { alice, body } = await confirmed(kind, id);
    expect(await sign(alice.api, operation, body)).not.toBeNull();
  });

  it.each(operations)('%s lets no other request be signed than %s', async (kind, own, id) => {
    const { alice, body } = await confirmed(kind, id);
    const others = operations.map(([, operation]) => operation).filter((operation) => operation !== own);
    for (const operation of [...others, `${own}?`, `DELETE /devices/${BOB}`, 'GET /vault/former']) {
      for (const sent of [null, body]) expect(await sign(alice.api, operation, sent)).toBeNull();
    }
  });

  it.each(operations)('%s lets %s be signed with nothing else in its body', async (kind, operation, id) => {
    const { alice, body } = await confirmed(kind, id);
    const fields = body ?? {};
    const changes = [
      { recoveryAuthKey: 'A'.repeat(43), recoveryProofKey: 'A'.repeat(43) },
      { passwordWrap: 'AAAA' },
      { email: 'thief@example.org' },
      { username: 'thief' },
      { password: 'A'.repeat(43) },
      { passwordParams: { salt: 'A'.repeat(22), opsLimit: 3, memLimit: 134_217_728 } },
      { statement: 'AAAA' },
    ];
    for (const change of changes)
      expect(await sign(alice.api, operation, { ...fields, ...change })).toBeNull();
    for (const field of Object.keys(fields).filter((name) => name !== 'currentPassword')) {
      expect(await sign(alice.api, operation, { ...fields, [field]: undefined })).toBeNull();
    }
    expect(await sign(alice.api, operation, [])).toBeNull();
  });

  it('lets the wraps be read where it renews the keys, and nowhere else', async () => {
    const renewing = ['change-password', 'create-recovery-key', 'renew-keys', 'revoke-device'];
    for (const [kind, , id] of [
      ...operations,
      ['renew-keys', '', null],
      ['mark-verified', '', BOB],
    ] as const) {
      const { alice } = await confirmed(kind, id);
      const header = await sign(alice.api, 'GET /vault/wraps');
      expect([kind, header !== null]).toEqual([kind, renewing.includes(kind)]);
      expect(await sign(alice.api, 'GET /vault/wraps', { more: 1 })).toBe(null);
    }
  });

  it('lets no other vault be stored than the one that the worker has sealed', async () => {
    for (const [kind, operation, id] of operations) {
      const { alice, body } = await confirmed(kind, id);
      const { vault } = (body ?? {}) as { vault?: object };
      const others =
        vault === undefined ? { sealedVault: 'AAAA' } : { vault: { ...vault, sealedVault: 'AAAA' } };
      expect(await sign(alice.api, operation, { ...body, ...others })).toBeNull();
    }
  });

  it('lets nothing be signed before the worker has done its part', async () => {
    const { alice } = await createPair();
    await alice.confirm('replace-recovery-key');
    expect(await sign(alice.api, 'PUT /vault', alice.vault())).toBeNull();
    await alice.confirm('change-password');
    expect(await sign(alice.api, 'PUT /users/me/password', { vault: alice.vault() })).toBeNull();
  });

  it('is done by the worker once, for its own target alone, and within two minutes', async () => {
    const { alice, world } = await createPair();
    const accept = async (userId: string) => {
      const { current } = await alice.api.safetyNumbers(userId);
      const mark = { userId, safetyNumber: current, verified: true };
      return alice.api.sealVerified(null, mark);
    };
    await expect(accept(BOB)).rejects.toMatchObject({ code: 'usage' });
    await alice.confirm('unmark-verified', BOB);
    await expect(accept(BOB)).rejects.toMatchObject({ code: 'usage' });
    await alice.confirm('mark-verified', CAROL);
    await expect(accept(BOB)).rejects.toMatchObject({ code: 'usage' });
    await alice.confirm('mark-verified', BOB);
    await accept(BOB);
    await expect(accept(BOB)).rejects.toMatchObject({ code: 'usage' });
    await alice.confirm('mark-verified', BOB);
    world.clock.advance(2 * MINUTE);
    await expect(accept(BOB)).rejects.toMatchObject({ code: 'usage' });
  });

  it('is needed to revoke another device, but not this one', async () => {
    const { alice } = await createPair();
    const revoke = () => alice.api.revokeDevice({ vault: alice.vault(), deviceId: CAROL });
    await expect(revoke()).rejects.toMatchObject({ code: 'usage' });
    await alice.confirm('revoke-device', BOB);
    await expect(revoke()).rejects.toMatchObject({ code: 'usage' });
    expect(await alice.api.ownRevocation()).toEqual(expect.any(String));
  });

  it('lets nothing be signed once it was called off', async () => {
    const { alice } = await createPair();
    alice.browser.typist.type = () => null;
    const operation = { kind: 'delete-account', target: 'alice', id: null } as const;
    await expect(alice.api.confirm(operation, alice.owner())).rejects.toMatchObject({ code: 'cancelled' });
    expect(await sign(alice.api, 'DELETE /user')).toBeNull();
  });
});
