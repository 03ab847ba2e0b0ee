import { afterAll, beforeAll, beforeEach } from 'vitest';
import { limits, proofHeader } from '../../contract/index.ts';
import { createPurgeJob } from '../../src/jobs/purge.ts';
import {
  base64Url,
  call,
  type Person,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { type Nonce, type Proving, proofFor, proofKeyOf } from '../proofs.ts';

/** A relay at a time of its own, somebody with a vault at it, and somebody who would like to have it. */
interface World {
  now: number;
  relay: TestRelay;
  person: PersonOnDevice;
  thief: PersonOnDevice;
}

export const world = { now: Date.parse('2026-03-01T12:00:00.000Z') } as World;

/** Makes the world: the relay once for a file, the people for each test. */
export function withProofWorld(): void {
  beforeAll(async () => {
    world.relay = await startTestRelay({ clock: () => world.now });
  });
  afterAll(() => world.relay.close());
  beforeEach(async () => {
    world.person = await signUpOnDevice(world.relay);
    world.thief = await signUpOnDevice(world.relay);
    await put(world.person, 0);
  });
}

export const passwordParams = { salt: base64Url(16), opsLimit: 3, memLimit: 134_217_728 };
export const sealedVault = () => base64Url(limits.sealedVaultMin);
export const wrap = () => base64Url(limits.keyWrapMin);

export function recoveryKey() {
  const recoveryAuthKey = base64Url(32);
  return { recoveryAuthKey, recoveryProofKey: proofKeyOf(recoveryAuthKey), recoveryWrap: wrap() };
}

export async function put(owner: Person, version: number, changes: object = {}): Promise<void> {
  const body = { version, sealedVault: sealedVault(), passwordWrap: wrap(), recoveryWrap: null, ...changes };
  const { status } = await owner.call('PUT', '/vault', body);
  if (status !== 200) throw new Error(`storing the vault answered ${status}`);
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

export const operationOf = ({ method, path }: Request) => `${method} ${path}`;

/** Sends a request with the person's token, and whatever is given for a proof. */
export const send = ({ method, path, body }: Request, proof: string | null, token = world.person.token) =>
  call(world.relay, method, path, {
    token,
    ...(body === undefined ? {} : { body }),
    ...(proof === null ? {} : { headers: { [proofHeader]: proof } }),
  });

export const proving = (changes: Partial<Proving> = {}): Proving => ({
  token: world.person.token,
  authKey: world.person.password,
  ...changes,
});

export const prove = (request: Request, changes?: Partial<Proving>) =>
  proofFor(world.relay, proving(changes), { operation: operationOf(request), body: request.body });

export const purge = () =>
  createPurgeJob({
    db: world.relay.relay.database.db,
    clock: () => world.now,
    log: world.relay.relay.app.log,
  }).run();

export const nonceOf = async ({ token }: Person) =>
  (await call<Nonce>(world.relay, 'POST', '/proof-nonce', { token })).body;

export const required = { status: 403, body: { code: 'proof-required' } };
export const refused = { status: 403, body: { code: 'proof-refused' } };
