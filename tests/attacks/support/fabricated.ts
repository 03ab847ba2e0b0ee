import { randomBytes, randomUUID } from 'node:crypto';
import {
  GROUP_BINDING_EXTENSION,
  issueDeviceCertificate,
  openVault,
  passwordKeys,
  unwrapVaultKey,
} from '../../../crypto-core/src/account/index.ts';
import {
  createCommit,
  createGroup,
  createKeyPackage,
  createSignatureKeyPair,
  type Env,
  ready,
} from '../../../crypto-core/src/index.ts';
import type { Person } from '../../e2e/support/person.ts';
import type { RunningRelay } from '../../e2e/support/relay.ts';

interface Row {
  readonly id: string;
  readonly password_salt: Uint8Array;
  readonly password_ops_limit: number;
  readonly password_mem_limit: number;
  readonly sealed_vault: Uint8Array;
  readonly password_wrap: Uint8Array;
}

const env: Env = { random: (length) => new Uint8Array(randomBytes(length)), now: () => Date.now() };
const leaf = { capabilities: { extensions: [GROUP_BINDING_EXTENSION] } };
const anybody = { memberCheck: () => {}, policy: () => {} };

/**
 * Makes up a conversation under an id: two devices of one person, which that person's true account key has certified,
 * and nobody else's. The person works together with the relay.
 * @returns its GroupInfo (RFC 9420, section 12.4.3) in epoch 1
 */
export async function fabricate(
  relay: RunningRelay,
  person: Person,
  conversationId: string,
): Promise<Uint8Array> {
  await ready();
  const { id: userId, accountSeed } = accountOf(relay, person);
  const [one, other] = [device(userId, accountSeed), device(userId, accountSeed)];
  const group = createGroup(
    { ...one, suite: 0xf04d, groupId: new TextEncoder().encode(conversationId), leaf, extensions: [] },
    env,
  );
  const now = BigInt(Math.floor(env.now() / 1000));
  const { bytes } = createKeyPackage(
    { ...other, suite: 0xf04d, leaf, lifetime: { notBefore: now - 3600n, notAfter: now + 86_400n } },
    env,
  );
  return createCommit(group, { adds: [bytes], ...anybody }, env).groupInfo;
}

function device(userId: string, accountSeed: Uint8Array) {
  const signatureKey = createSignatureKeyPair(env);
  const identity = issueDeviceCertificate(accountSeed, {
    userId,
    deviceId: randomUUID(),
    deviceKey: signatureKey.publicKey,
    notBefore: 0n,
  });
  return { credential: { type: 'basic', identity } as const, signatureKey };
}

function accountOf(relay: RunningRelay, { password, username }: Person) {
  const sql = 'select * from users join vaults on user_id = users.id where username = ?';
  const row = relay.inDatabase((db) => db.prepare(sql).get(username)) as Row | undefined;
  if (row === undefined) throw new Error('has not signed up');
  const { wrapKey } = passwordKeys(password, {
    salt: new Uint8Array(row.password_salt),
    opsLimit: row.password_ops_limit,
    memLimitBytes: row.password_mem_limit,
  });
  const vaultKey = unwrapVaultKey(new Uint8Array(row.password_wrap), wrapKey);
  const { vault } = openVault(new Uint8Array(row.sealed_vault), vaultKey, row.id);
  return { id: row.id, accountSeed: vault.accountSeed };
}
