import {
  createKeyPackage,
  decodeKeyPackage,
  decodeKeyPackageBundle,
  type Env,
  encodeKeyPackageBundle,
  equalBytes,
  ready,
  toHex,
  wipe,
} from '@sinetti/crypto-core';
import {
  type AccountState,
  createVault,
  createVaultKey,
  openVault,
  sealVault,
  signDeviceSession,
  unwrapVaultKey,
  wrapVaultKey,
} from '@sinetti/crypto-core/account';
import {
  ClaimedKeyPackages,
  check,
  Id,
  KeyPackageCount,
  Password,
  PasswordParams,
  StoredVault,
  Suite,
} from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { boolean } from '../codec/guards.ts';
import { readFormer, readPlace } from '../session/place.ts';
import { type Device, type Session, toDevice, type UnlockedAccount } from '../session/session.ts';
import { type VaultOpening, vaultOpening } from '../session/vaultOpening.ts';
import { type KeyPackageStore, write } from '../storage/db.ts';
import { DeviceRecord } from '../storage/records.ts';
import type { Confirmations } from './confirmations.ts';
import { leafOptions } from './leafOptions.ts';
import { becomeDevice, type KeepSent, newDeviceRecord, replaceCopied } from './newDevice.ts';
import { type DerivedKeys, derivePasswordKeys, newPasswordKeys, type PasswordDeps } from './passwordKeys.ts';
import { adoptVerified, readAllPins } from './pins.ts';
import { requireVersion } from './rotation.ts';

const DAY_SECONDS = 86_400;
/**
 * A KeyPackage may be used from a day before it was made (clocks differ) to 90 days after. Its private keys stay 30 days longer:
 * a Welcome that was sent before may wait for a browser that was away.
 */
const LIFETIME_DAYS = { before: 1, after: 90, waiting: 30 };

export function createAccount(
  deps: PasswordDeps,
  session: Session,
  confirmations: Pick<Confirmations, 'forget'>,
  keepSent: KeepSent,
) {
  const { env } = deps;
  /** Kept from beginSignUp or beginLogin until the vault is open. */
  let kept: Pick<DerivedKeys, 'wrapKey' | 'proofKey'> | null = null;

  function keep({ proofKey, proofSeed, wrapKey }: DerivedKeys): void {
    forget();
    kept = { proofKey, wrapKey };
    wipe(proofSeed);
  }

  function forget(): void {
    if (kept !== null) wipe(kept.wrapKey);
    kept = null;
  }

  function requireKept(): Pick<DerivedKeys, 'wrapKey' | 'proofKey'> {
    if (kept === null) throw new CryptoApiError('usage', 'no password was given');
    return kept;
  }

  return {
    async beginSignUp(password) {
      check('beginSignUp', Password, password);
      await ready();
      const { passwordParams, ...keys } = newPasswordKeys(deps, password);
      keep(keys);
      return { authKey: keys.authKey, proofKey: toBase64Url(keys.proofKey), passwordParams };
    },

    async beginLogin(password, passwordParams) {
      check('beginLogin', Password, password);
      const params = check('beginLogin', PasswordParams, passwordParams);
      await ready();
      const keys = derivePasswordKeys(deps, password, params);
      keep(keys);
      return { authKey: keys.authKey, proofKey: toBase64Url(keys.proofKey) };
    },

    async createVault(userId) {
      check('createVault', Id, userId);
      await ready();
      const { wrapKey } = requireKept();
      const vault = createVault(env);
      const vaultKey = createVaultKey(env);
      const sealed = {
        sealedVault: toBase64Url(sealVault(vault, vaultKey, userId, env)),
        passwordWrap: toBase64Url(wrapVaultKey(vaultKey, wrapKey, env)),
        recoveryWrap: null,
      };
      const keys = vault.sharedKeys.flatMap(({ historyKey, stateKey }) => [historyKey, stateKey]);
      wipe(vaultKey, vault.accountSeed, vault.deviceSecret, ...keys);
      return sealed;
    },

    async openVault(userId, vault) {
      check('openVault', Id, userId);
      const { sealedVault, passwordWrap, version } = check('openVault', StoredVault, vault);
      await ready();
      const { proofKey, wrapKey } = requireKept();
      const vaultKey = unwrapVaultKey(passwordWrap, wrapKey);
      const { formerState, vault: opened } = openVault(sealedVault, vaultKey, userId);
      wipe(vaultKey);
      requireVersion(opened, version);
      const opening = vaultOpening(userId, { vault: opened, version, proofKey });
      await openAccount(session, env, userId, opening, formerState);
      forget();
    },

    async forgetVault() {
      session.forgetVault();
    },

    async resume(userId) {
      check('resume', Id, userId);
      return session.resume(userId);
    },

    async openDevice() {
      const account = session.account();
      const { sealer, userId } = account;
      // One write transaction reads and creates, so that two tabs that start at once make one device.
      const { device, former, isNew } = await write(account.db, 'strict', async (tx) => {
        const devices = tx.objectStore('device');
        const stored = await devices.get('device');
        const known =
          stored === undefined ? null : toDevice(sealer.open('device', 'device', stored, DeviceRecord));
        const left = await readFormer(tx, account);
        if (known !== null && !session.isSigningIn()) return { device: known, former: left, isNew: false };
        const record = newDeviceRecord(env, userId, session.accountSeed(), known);
        const device = toDevice(record);
        if (known === null) await devices.put(sealer.seal('device', 'device', record), 'device');
        // The person has moved on to another account key, and this browser hasn't heard that the relay took it.
        else if (!equalBytes(known.accountKey, device.accountKey)) {
          await becomeDevice(tx, account, { record, revocations: [] }, keepSent);
        } else if ((await readPlace(tx, account)).isCopied) {
          await replaceCopied(
            tx,
            account,
            { former: known, record, accountSeed: session.accountSeed() },
            keepSent,
          );
        } else return { device: known, former: left, isNew: false };
        return { device, former: await readFormer(tx, account), isNew: true };
      });
      if (isNew) account.isStarted = false;
      account.device = device;
      return {
        userId,
        deviceId: device.deviceId,
        certificate: toBase64Url(device.certificate),
        isNew,
        former:
          former === null
            ? null
            : {
                deviceId: former.deviceId,
                signature: toBase64Url(former.signature),
                statement: toBase64Url(former.statement),
              },
      };
    },

    async signSession(id) {
      const sessionId = check('signSession', Id, id);
      const { device, userId } = session.accountOnDevice();
      await ready();
      const claims = { userId, deviceId: device.deviceId, session: sessionId };
      return toBase64Url(signDeviceSession(device.signatureKey.privateKey, claims));
    },

    async createKeyPackages(count, lastResort, suite) {
      check('createKeyPackages', KeyPackageCount, count);
      check('createKeyPackages', boolean, lastResort);
      check('createKeyPackages', Suite, suite);
      const account = session.accountOnDevice();
      const single = Array.from({ length: count }, () =>
        makeKeyPackage(account.device, { suite, lastResort: false }),
      );
      const last = lastResort ? makeKeyPackage(account.device, { suite, lastResort }) : null;
      await write(account.db, 'strict', async (tx) => {
        const store = tx.objectStore('keyPackages');
        await forgetExpired(store, account);
        const bundles = last === null ? single : [...single, last];
        await Promise.all(
          bundles.map((bundle) => {
            const ref = toHex(bundle.ref);
            return store.put(
              account.sealer.sealBytes('keyPackages', ref, encodeKeyPackageBundle(bundle)),
              ref,
            );
          }),
        );
      });
      return {
        keyPackages: single.map(({ bytes }) => toBase64Url(bytes)),
        lastResort: last === null ? null : toBase64Url(last.bytes),
      };
    },

    async usableKeyPackages(claimed) {
      const given = check('usableKeyPackages', ClaimedKeyPackages, claimed);
      await ready();
      const now = seconds(env.now());
      return given.flatMap(({ keyPackage }, i) => (isOver(keyPackage, now) ? [] : claimed.slice(i, i + 1)));
    },

    async lock() {
      forget();
      confirmations.forget();
      await session.lock();
    },

    async erase() {
      forget();
      confirmations.forget();
      await session.erase();
    },
  } satisfies Partial<CryptoApi>;

  /** Deletes KeyPackages for which no Welcome can come any more, and whose keys could only be stolen (RFC 9420 section 16.8). */
  async function forgetExpired(store: KeyPackageStore, { sealer }: UnlockedAccount): Promise<void> {
    const until = seconds(env.now()) - BigInt(LIFETIME_DAYS.waiting * DAY_SECONDS);
    const [refs, rows] = await Promise.all([store.getAllKeys(), store.getAll()]);
    for (const [i, ref] of refs.entries()) {
      const row = rows[i];
      if (row === undefined) continue;
      const { keyPackage } = decodeKeyPackageBundle(sealer.openBytes('keyPackages', ref, row));
      if (endOf(keyPackage) < until) await store.delete(ref);
    }
  }

  function makeKeyPackage(
    device: Device,
    kind: Pick<Parameters<typeof createKeyPackage>[0], 'lastResort' | 'suite'>,
  ) {
    const now = seconds(env.now());
    return createKeyPackage(
      {
        ...kind,
        credential: { type: 'basic', identity: device.certificate },
        signatureKey: device.signatureKey,
        leaf: leafOptions,
        lifetime: {
          notBefore: now - BigInt(LIFETIME_DAYS.before * DAY_SECONDS),
          notAfter: now + BigInt(LIFETIME_DAYS.after * DAY_SECONDS),
        },
      },
      env,
    );
  }
}

/** Opens the session of an opened vault, and takes over the verified contacts that it held before there was an account state. */
export async function openAccount(
  session: Session,
  env: Env,
  userId: string,
  opening: VaultOpening,
  formerState: AccountState | null,
): Promise<void> {
  await session.open(userId, opening, async (tx, account) => {
    if (formerState !== null)
      await adoptVerified(tx, account, formerState, env.now(), await readAllPins(tx, account));
  });
}

/** Returns when a KeyPackage's lifetime is over, in seconds since the Unix epoch. */
function endOf({ leafNode: { source } }: ReturnType<typeof decodeKeyPackage>): bigint {
  return source.type === 'key-package' ? source.lifetime.notAfter : 0n;
}

/** Returns whether a KeyPackage's lifetime is over; one that can't be read is refused where it is used. */
function isOver(keyPackage: Uint8Array, now: bigint): boolean {
  try {
    return endOf(decodeKeyPackage(keyPackage)) < now;
  } catch {
    return false;
  }
}

/** Returns whole seconds since the Unix epoch, in which MLS counts time. */
function seconds(milliseconds: number): bigint {
  return BigInt(Math.floor(milliseconds / 1000));
}
