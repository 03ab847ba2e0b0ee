import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import type { Sync } from '../conversations/sync.ts';
import { type AccountStates, createAccountStates } from '../core/accountState.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { createSignedNames } from '../people/names.ts';
import { createTrust, type Trust } from '../people/trust.ts';
import { type AccountChanges, createAccountChanges } from './accountChanges.ts';
import { createDevices, type Devices } from './devices.ts';
import { createKeyRenewal, type KeyRenewal } from './keyRenewal.ts';
import { createRecovery, type Recovery } from './recovery.ts';

export interface SecurityOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly sync: Pick<Sync, 'catchUp'>;
  readonly commitSubmitter: CommitSubmitter;
  readonly confirmation: Confirmation;
  /** This very device was revoked: the session is over. */
  readonly onThisRevoked: () => Promise<void>;
  readonly background: Background;
}

/**
 * The services that protect the account of a session and the identities of others: recovery, devices, trust, password.
 */
export interface Security {
  readonly recovery: Recovery;
  readonly keyRenewal: KeyRenewal;
  readonly devices: Devices;
  readonly accountChanges: AccountChanges;
  readonly trust: Trust;
  readonly accountStates: Pick<AccountStates, 'isSettled'>;
  changePassword(): Promise<void>;
  stop(): void;
  /** The relay can be reached: reads the vault, what the person's devices share, and what changed who owns the account. */
  refresh(): Promise<void>;
  /** The relay says that something of it has changed. */
  onChanged(): Promise<void>;
}

export function createSecurity(options: SecurityOptions): Security {
  const { deps } = options;
  const { confirmation } = options;
  const accountStates = createAccountStates(deps);
  const keyRenewal = createKeyRenewal(
    deps,
    options.ownUserId,
    confirmation,
    accountStates,
    options.background,
  );
  const recovery = createRecovery(deps, confirmation, keyRenewal);
  const devices = createDevices({ ...options, keyRenewal });
  const accountChanges = createAccountChanges(deps);
  const trust = createTrust({ ...options, accountStates });
  const names = createSignedNames(deps, trust, options.background);

  async function readVault(): Promise<void> {
    const vault = await deps.api.getVault();
    await recovery.onVault(vault);
    await keyRenewal.onVault(vault);
  }

  async function refresh(): Promise<void> {
    accountStates.forgetEchoes();
    await Promise.all([readVault(), accountChanges.load(), trust.refresh()]);
  }

  return {
    recovery,
    keyRenewal,
    devices,
    accountChanges,
    trust,
    accountStates,
    async changePassword() {
      // Most sessions change none.
      const { changePassword } = await import('./password.ts');
      await changePassword(deps, confirmation, keyRenewal);
    },
    stop() {
      trust.stop();
      names.stop();
      keyRenewal.stop();
    },
    refresh,
    async onChanged() {
      if (!accountStates.takeEcho()) await refresh();
    },
  };
}
