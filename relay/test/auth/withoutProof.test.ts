import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { limits, type Vault } from '../../contract/index.ts';
import { certificateOf, revocationOf, sessionOf } from '../devices.ts';
import { base64Url, call, logIn, type Person, rotatedVault, signUpOnDevice } from '../helpers.ts';
import { createGroup } from '../http/conversation.ts';
import { proofKeyOf } from '../proofs.ts';
import {
  nonceOf,
  passwordParams,
  prove,
  purge,
  put,
  recoveryKey,
  refused,
  required,
  sealedVault,
  send,
  withProofWorld,
  world,
  wrap,
} from './proofWorld.ts';

withProofWorld();

describe('a stolen token', () => {
  const steal = () => ({
    call: <T>(method: string, path: string, body?: unknown) =>
      call<T>(world.relay, method, path, {
        token: world.person.token,
        ...(body === undefined ? {} : { body }),
      }),
  });

  it('sets no recovery key to recover the account by', async () => {
    const stolen = steal();
    const key = recoveryKey();
    const { body: vault } = await stolen.call<Vault>('GET', '/vault');
    const body = { version: vault.version, sealedVault: vault.sealedVault, ...key };
    expect(await stolen.call('PUT', '/vault', body)).toMatchObject(required);
    const recovery = { email: world.person.email, ...key, recoveryWrap: undefined };
    expect(await call(world.relay, 'POST', '/recovery', { body: recovery })).toMatchObject({
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

  it('ends itself and sessions from before it, and none that the person opens since', async () => {
    const earlier = await logIn(world.relay, world.person);
    world.now += 1;
    const stolen = await logIn(world.relay, world.person);
    const atOnce = await logIn(world.relay, world.person);
    world.now += 1;
    const later = await logIn(world.relay, world.person);
    const end = ({ token }: Person) =>
      send({ method: 'DELETE', path: `/sessions/${sessionOf(token)}` }, null, stolen.token);
    for (const other of [atOnce, later]) expect(await end(other)).toMatchObject(required);
    const alive = async ({ token }: Person) =>
      (await call(world.relay, 'GET', '/profile', { token })).status === 200;
    expect(await Promise.all([earlier, atOnce, later].map(alive))).toEqual([true, true, true]);
    for (const own of [earlier, stolen]) expect((await end(own)).status).toBe(204);
    expect(await Promise.all([earlier, stolen].map(alive))).toEqual([false, false]);
  });

  it('of a log-in that has registered no device gives the wraps, and ends after fifteen minutes', async () => {
    const stolen = await logIn(world.relay, world.person);
    const read = () => call(world.relay, 'GET', '/vault/wraps', { token: stolen.token });
    world.now += 15 * 60 * 1000 - 1;
    expect((await read()).status).toBe(200);
    world.now += 1;
    expect(await read()).toMatchObject({ status: 401, body: { code: 'session-expired' } });
    expect((await stolen.call('GET', '/profile')).status).toBe(401);
  });

  it('of a log-in that has registered no device ends as the person sets a new password', async () => {
    const stolen = await logIn(world.relay, world.person);
    const { password, passwordProofKey } = { password: base64Url(32), passwordProofKey: proofKeyOf('x') };
    const vault = rotatedVault(1);
    const body = {
      currentPassword: world.person.password,
      password,
      passwordProofKey,
      passwordParams,
      vault,
    };
    expect((await world.person.call('PUT', '/users/me/password', body)).status).toBe(200);
    expect(await call(world.relay, 'GET', '/profile', { token: stolen.token })).toMatchObject({
      status: 401,
      body: { code: 'password-changed' },
    });
  });

  it('stores no proof key of its own', async () => {
    const own = base64Url(32);
    const login = { email: world.person.username, password: own, passwordProofKey: proofKeyOf(own) };
    expect(
      (await call(world.relay, 'POST', '/login', { token: world.person.token, body: login })).status,
    ).toBe(401);
    const request = { method: 'DELETE', path: '/user' };
    expect(await send(request, await prove(request, { authKey: own }))).toMatchObject(refused);
  });
});

describe('an account from before there were proofs', () => {
  const request = { method: 'DELETE', path: '/user' };

  beforeEach(async () => {
    world.person = await signUpOnDevice(world.relay, { passwordProofKey: undefined });
    await put(world.person, 0);
  });

  it('does nothing that takes a proof until a log-in has told its proof key', async () => {
    expect(await nonceOf(world.person)).toMatchObject({ passwordKey: false });
    expect(await send(request, await prove(request))).toMatchObject(required);
    const body = { email: world.person.username, password: world.person.password };
    await call(world.relay, 'POST', '/login', { body });
    expect(await nonceOf(world.person)).toMatchObject({ passwordKey: false });
    await call(world.relay, 'POST', '/login', {
      body: { ...body, passwordProofKey: proofKeyOf(world.person.password) },
    });
    expect(await nonceOf(world.person)).toMatchObject({ passwordKey: true });
    expect((await send(request, await prove(request))).status).toBe(204);
  });

  it('keeps the first proof key that a log-in has told', async () => {
    const body = { email: world.person.username, password: world.person.password };
    for (const key of [proofKeyOf(world.person.password), base64Url(32)]) {
      await call(world.relay, 'POST', '/login', { body: { ...body, passwordProofKey: key } });
    }
    expect((await send(request, await prove(request))).status).toBe(204);
  });

  it('is recovered by a recovery key whose proof key the recovery tells', async () => {
    await call(world.relay, 'POST', '/login', {
      body: {
        email: world.person.username,
        password: world.person.password,
        passwordProofKey: proofKeyOf(world.person.password),
      },
    });
    const { recoveryProofKey, ...key } = recoveryKey();
    await put(world.person, 1, key);
    const body = { email: world.person.email, recoveryAuthKey: key.recoveryAuthKey, recoveryProofKey };
    const recovered = await call<{ access_token: string }>(world.relay, 'POST', '/recovery', { body });
    const change = {
      method: 'PUT',
      path: '/users/me/password',
      body: {
        password: base64Url(32),
        passwordParams,
        passwordProofKey: base64Url(32),
        vault: rotatedVault(2),
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
    const other = await signUpOnDevice(world.relay);
    const first = { version: 0, sealedVault: sealedVault(), passwordWrap: wrap(), recoveryWrap: null };
    const request = { method: 'PUT', path: '/vault', body: first };
    expect((await send(request, null, other.token)).status).toBe(200);
    expect(await send(request, null, other.token)).toMatchObject({ status: 409, body: { version: 1 } });
  });

  it('the names are written in another case', async () => {
    const { email, username } = world.person;
    const body = { username: username.toUpperCase(), email: email.toUpperCase() };
    expect((await send({ method: 'PUT', path: '/users/me', body }, null)).status).toBe(200);
  });

  it('a device revokes itself', async () => {
    const body = { statement: revocationOf(world.person, world.person.deviceId) };
    const request = { method: 'DELETE', path: `/devices/${world.person.deviceId}`, body };
    expect((await send(request, null)).status).toBe(204);
  });

  it('a session that has just proven the password reads the wraps until it has a device', async () => {
    const fresh = await logIn(world.relay, world.person);
    const request = { method: 'GET', path: '/vault/wraps' };
    expect(await send(request, null, fresh.token)).toMatchObject({
      status: 200,
      body: { recoveryWrap: null },
    });
    const id = randomUUID();
    await fresh.call('PUT', `/devices/${id}`, {
      name: 'A browser',
      certificate: certificateOf(fresh.id, id),
    });
    expect(await send(request, null, fresh.token)).toMatchObject(required);
  });
});

describe('the message backup', () => {
  const copy = (conversationId: string) => ({ id: randomUUID(), conversationId, sealed: base64Url(90) });
  const store = (items: object[], on?: true) => world.person.call('PUT', '/history', { items, on });
  const remove = (query = '') => send({ method: 'DELETE', path: `/history${query}` }, null);
  const group = () => `group:${randomUUID()}`;

  it('loses the copies of a conversation without a proof only once the person is not in it', async () => {
    const groupId = await createGroup(world.person);
    const query = `?conversationId=group:${groupId}`;
    await store([copy(`group:${groupId}`), copy(group())]);
    expect(await remove(query)).toMatchObject(required);
    await world.person.call('DELETE', `/group/${groupId}`);
    expect((await remove(query)).status).toBe(204);
    expect((await world.person.call<unknown[]>('GET', '/history')).body).toHaveLength(1);
  });

  it('that is off loses what a device leaves late, until it is switched on again', async () => {
    await store([copy(group())]);
    expect(await remove()).toMatchObject(required);
    expect((await world.person.call('DELETE', '/history')).status).toBe(204);
    await store([copy(group())]);
    expect((await remove()).status).toBe(204);
    await store([copy(group())], true);
    expect(await remove()).toMatchObject(required);
    expect((await world.person.call<unknown[]>('GET', '/history')).body).toHaveLength(1);
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
      expect(await world.person.call('PUT', '/vault', body)).toMatchObject({
        status: 422,
        body: { code: 'invalid-request' },
      });
    }
  });

  it('keeps the one before for seven days', async () => {
    const { sealedVault: former } = (await world.person.call<Vault>('GET', '/vault')).body;
    await put(world.person, 1);
    expect(await world.person.call('GET', '/vault/former')).toMatchObject({
      status: 200,
      body: { version: 1, sealedVault: former, replaced_at: new Date(world.now).toISOString() },
    });
    world.now += 7 * 24 * 60 * 60 * 1000 - 1;
    await purge();
    expect((await world.person.call('GET', '/vault/former')).status).toBe(200);
    world.now += 1;
    await purge();
    expect((await world.person.call('GET', '/vault/former')).status).toBe(404);
  });
});
