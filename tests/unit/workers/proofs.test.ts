import { createHash } from 'node:crypto';
import { verifyProof } from '@sinetti/crypto-core';
import { describe, expect, it } from 'vitest';
import type { ProofRequest } from '../../../workers/api/cryptoApi.ts';
import { Browser, Clock } from './support/browser.ts';
import { ALICE, createPair, PASSWORD } from './support/device.ts';

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

describe('a proof by the password', () => {
  it('is signed by the key that logging in tells the relay', async () => {
    const { relay } = await createPair();
    const passwordParams = relay.passwordParams.get(ALICE)!;
    const api = freshBrowser();
    const { proofKey, authKey } = await api.beginLogin(PASSWORD, passwordParams);
    const signed = await api.signProof({ password: PASSWORD, passwordParams }, request);
    expect(signed).toEqual({ authKey, proofKey, proof: expect.any(String) });
    expect(read(signed.proof ?? '', proofKey, request)).toEqual({
      key: 'password',
      nonce: request.nonce,
      replaces: 7,
      isSigned: true,
    });
    expect(read(signed.proof ?? '', proofKey, { ...request, body: '{}' }).isSigned).toBe(false);
  });

  it('is signed by another key when the password is another', async () => {
    const { relay } = await createPair();
    const passwordParams = relay.passwordParams.get(ALICE)!;
    const { proofKey } = await freshBrowser().beginLogin(PASSWORD, passwordParams);
    const guess = await freshBrowser().signProof({ password: 'a guess', passwordParams }, request);
    expect(guess.proofKey).not.toBe(proofKey);
    expect(read(guess.proof ?? '', proofKey, request).isSigned).toBe(false);
  });

  it('is left out where no request takes it', async () => {
    const { relay } = await createPair();
    const passwordParams = relay.passwordParams.get(ALICE)!;
    expect(await freshBrowser().signProof({ password: PASSWORD, passwordParams }, null)).toMatchObject({
      proof: null,
    });
  });

  it.each([{ operation: '' }, { replaces: -1 }, { session: 'x' }, { nonce: 'AAAA' }])(
    'is refused for a request with %o',
    async (change) => {
      const { relay } = await createPair();
      const credential = { password: PASSWORD, passwordParams: relay.passwordParams.get(ALICE)! };
      await expect(freshBrowser().signProof(credential, { ...request, ...change })).rejects.toMatchObject({
        code: 'usage',
      });
    },
  );
});

describe('a pending proof', () => {
  it('is signed once by the current password after a change of the password', async () => {
    const { alice, relay } = await createPair();
    const { currentProofKey } = await alice.api.changePassword({
      currentPassword: PASSWORD,
      currentParams: relay.passwordParams.get(ALICE)!,
      newPassword: 'a quieter harbour',
    });
    const header = await alice.api.signPendingProof(request);
    expect(read(header, currentProofKey, request)).toMatchObject({ key: 'password', isSigned: true });
    await expect(alice.api.signPendingProof(request)).rejects.toMatchObject({ code: 'usage' });
  });

  it('is forgotten when the browser is locked', async () => {
    const { alice, relay } = await createPair();
    await alice.api.changePassword({
      currentPassword: PASSWORD,
      currentParams: relay.passwordParams.get(ALICE)!,
      newPassword: 'a quieter harbour',
    });
    await alice.api.lock();
    await expect(alice.api.signPendingProof(request)).rejects.toMatchObject({ code: 'usage' });
  });

  it('is signed once by the recovery key after a recovery', async () => {
    const { alice, relay } = await createPair();
    const { recoveryKey } = await alice.api.createRecoveryKey();
    const { recoveryProofKey, recoveryWrap } = await alice.api.confirmRecoveryKey({
      password: PASSWORD,
      passwordParams: relay.passwordParams.get(ALICE)!,
    });
    const api = freshBrowser();
    await api.beginRecovery(recoveryKey);
    await api.recoverVault(ALICE, { ...relay.vaults.get(ALICE)!, recoveryWrap }, 'a quieter harbour');
    const header = await api.signPendingProof(request);
    expect(read(header, recoveryProofKey, request)).toMatchObject({ key: 'recovery', isSigned: true });
    await expect(api.signPendingProof(request)).rejects.toMatchObject({ code: 'usage' });
  });
});
