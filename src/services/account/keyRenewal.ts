import type { RotatedVault, StoredVault } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import type { Timer } from '../../lib/clock.ts';
import type { Prove, Vault } from '../../net/api.ts';
import { keysAwaitedAtom, keysRenewedAtom } from '../../store/keys.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { AccountStates } from '../core/accountState.ts';
import type { Confirmation } from '../core/confirmation.ts';
import { selfConversationId } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, toAppError } from '../core/failures.ts';
import { timings } from '../core/timings.ts';

/**
 * The keys that the person's devices share. Each change of who may open the account renews them. The device that does so
 * gives them to the others in the own devices' group; where that can't be, the person types the password (PROTOCOL
 * section 2).
 */
export interface KeyRenewal {
  /** Compares the vault's version with the one that this device has keys of. */
  onVault(vault: Pick<Vault, 'version'>): Promise<void>;
  /** Asks the relay whether another device has renewed the keys, and this one hasn't got them yet. */
  isBehind(): Promise<boolean>;
  /**
   * Opens the vault by the password that was just confirmed, for an operation that renews the keys, and takes those over
   * once the relay has them.
   * @param operate has the worker seal the vault anew, and the relay take it; returns it
   */
  renew(prove: Prove, operate: (vault: StoredVault) => Promise<RotatedVault>): Promise<void>;
  /** Asks for the password, and takes over the keys that another device has renewed. @throws AppError `cancelled` */
  takeOver(): Promise<void>;
  stop(): void;
}

export function createKeyRenewal(
  { api, clock, crypto, sessionEvents, store }: SessionDeps,
  ownUserId: string,
  confirmation: Pick<Confirmation, 'confirm'>,
  accountStates: Pick<AccountStates, 'load'>,
  background: Background,
): KeyRenewal {
  /** The newest vault that the relay is known to have. */
  let seenVersion = 0;
  /** The vault whose keys this device had when it looked last; null before that. */
  let heldVersion: number | null = null;
  /** The vault whose keys were waited for last. */
  let awaitedVersion = 0;
  let patience: Timer | null = null;

  async function compare(): Promise<boolean> {
    heldVersion = await crypto.vaultVersion();
    const isBehind = seenVersion > heldVersion;
    if (isBehind && seenVersion > awaitedVersion) awaitKeys();
    store.set(keysRenewedAtom, () => isBehind);
    if (!isBehind) stopWaiting();
    return isBehind;
  }

  function awaitKeys(): void {
    stopWaiting();
    awaitedVersion = seenVersion;
    store.set(keysAwaitedAtom, () => true);
    patience = clock.after(timings.keysPatience, stopWaiting);
  }

  function stopWaiting(): void {
    patience?.cancel();
    patience = null;
    store.set(keysAwaitedAtom, () => false);
  }

  /** Looks whether what an own device has said brought keys; they are in the worker already. */
  async function onSaid(): Promise<void> {
    const before = heldVersion;
    await compare();
    if (before === null || heldVersion === null || heldVersion <= before) return;
    sessionEvents.emit('keysTakenOver', { vaultVersion: heldVersion });
    await accountStates.load();
  }

  sessionEvents.on('entriesProcessed', ({ state }) => {
    if (state.conversationId === selfConversationId(ownUserId)) background(onSaid);
  });

  async function onVault({ version }: Pick<Vault, 'version'>): Promise<boolean> {
    seenVersion = Math.max(seenVersion, version);
    return compare();
  }

  async function readVault(prove: Prove): Promise<StoredVault> {
    const { sealedVault, version } = await api.getVault();
    const { passwordWrap } = await api.getVaultWraps(prove);
    return { sealedVault, version, passwordWrap };
  }

  return {
    async onVault(vault) {
      await onVault(vault);
    },

    isBehind: async () => onVault(await api.getVault()),

    async renew(prove, operate) {
      const { sealedVault, version } = await operate(await readVault(prove));
      await crypto.adoptRenewedKeys(sealedVault);
      await compare();
      sessionEvents.emit('keysRenewed', { vaultVersion: version + 1 });
      // The operation is done, whatever becomes of this.
      background(accountStates.load);
    },

    async takeOver() {
      const target = store.get(currentUserAtom)?.username ?? '';
      const prove = await confirmation.confirm({ kind: 'renew-keys', target, id: null });
      try {
        await crypto.readRenewedKeys(await readVault(prove));
        await compare();
        await accountStates.load();
      } catch (error) {
        throw toAppError(error, t('keys.takeOverFailed'));
      }
      sessionEvents.emit('keysTakenOver', { vaultVersion: seenVersion });
    },

    stop: stopWaiting,
  };
}
