import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import type { Sync } from '../conversations/sync.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { createTrust, type Trust } from '../people/trust.ts';
import { createDevices, type Devices } from './devices.ts';
import { changePassword, type PasswordChange } from './password.ts';
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
  readonly devices: Devices;
  readonly trust: Trust;
  changePassword(change: PasswordChange): Promise<void>;
  start(): Promise<void>;
  stop(): void;
  /** The relay can be reached: what the vault holds by now. */
  refresh(): Promise<void>;
}

export function createSecurity(options: SecurityOptions): Security {
  const { deps } = options;
  const recovery = createRecovery(deps, options.confirmation);
  const devices = createDevices(options);
  const trust = createTrust(options);
  return {
    recovery,
    devices,
    trust,
    changePassword: (change) => changePassword(deps, change),
    start: () => trust.start(),
    stop: () => trust.stop(),
    async refresh() {
      const vault = await deps.api.getVault();
      await recovery.onVault(vault);
      await trust.onVault(vault);
    },
  };
}
