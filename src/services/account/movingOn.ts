import type { MovedOn } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Sync } from '../conversations/sync.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { SessionDeps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import type { KeyRenewal } from './keyRenewal.ts';

export interface MovingOnOptions {
  readonly deps: SessionDeps;
  readonly confirmation: Pick<Confirmation, 'confirm'>;
  readonly keyRenewal: Pick<KeyRenewal, 'renew'>;
  readonly sync: Pick<Sync, 'syncAll'>;
  /** Registers the device that this browser is, with KeyPackages. */
  readonly register: () => Promise<void>;
  /** Tells the other tabs that this browser is another device. */
  readonly tellTabs: (deviceId: string) => void;
  readonly disconnect: () => void;
  readonly connect: () => void;
}

/**
 * Asks for the present password and a new one, and has the account begin anew under another account key (PROTOCOL
 * section 2). @throws AppError `cancelled`
 */
export async function moveOn(options: MovingOnOptions): Promise<void> {
  const { confirmation, keyRenewal, sync } = options;
  const { api, crypto, sessionEvents, store } = options.deps;

  async function beginAnew(): Promise<void> {
    // First: their workers still sign as the former device.
    options.tellTabs((await crypto.openDevice()).deviceId);
    await options.register();
    sessionEvents.emit('conversationsChanged', { states: await crypto.conversations() });
  }

  try {
    const target = store.get(currentUserAtom)?.username ?? '';
    const prove = await confirmation.confirm({ kind: 'move-on', target, id: null });
    // Only this device can read what was written to it so far.
    await sync.syncAll().catch(() => undefined);
    try {
      await keyRenewal.renew(
        prove,
        async (vault) => {
          const deviceIds = (await api.listDevices()).map(({ id }) => id);
          const body = await crypto.moveOn({ vault, deviceIds });
          // The real-time connection belongs to the device so far.
          options.disconnect();
          return { vault: body.vault, endsRecoveryKey: true, submit: () => api.moveOn(bodyOf(body), prove) };
        },
        beginAnew,
      );
    } finally {
      options.connect();
    }
  } catch (error) {
    throw toAppError(error, t('movingOn.failed'));
  }
}

/** The contract names that there is no recovery key; the worker makes none. */
function bodyOf({ revocations, vault, ...body }: MovedOn) {
  return { ...body, vault: { ...vault, recoveryWrap: null }, revocations: [...revocations] };
}
