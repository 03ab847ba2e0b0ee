import type { RotatedVault, StoredVault } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { Timer } from '../../lib/clock.ts';
import type { Prove, Vault } from '../../net/api.ts';
import { keysAwaitedAtom, keysRenewedAtom, olderVaultAtom } from '../../store/keys.ts';
import { recoveryKeyAtom } from '../../store/recovery.ts';
import { currentUserAtom } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';
import type { AccountStates } from '../core/accountState.ts';
import type { Confirmation } from '../core/confirmation.ts';
import { selfConversationId } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { apiErrorOf, type Background, isPassing, mayBeDone, toAppError } from '../core/failures.ts';
import { timings } from '../core/timings.ts';
import { relayVault } from '../core/vaultVersion.ts';

/**
 * The keys that the person's devices share. Each change of who may open the account renews them. The device that does so
 * gives them to the others in the own devices' group; where that can't be, the person types the password (PROTOCOL
 * section 2).
 */
export interface KeyRenewal {
  /**
   * Compares the vault's version with the one that this device has keys of; takes over the keys of one that was sealed
   * here, and that the relay has taken without its answer getting here.
   */
  onVault(vault: Pick<Vault, 'version' | 'sealedVault'>): Promise<void>;
  /** Asks the relay whether another device has renewed the keys, and this one hasn't got them yet. */
  isBehind(): Promise<boolean>;
  /**
   * Opens the vault by the password that was just confirmed, for an operation that renews the keys, and takes those over
   * once the relay has them. Where its answer is lost, the vault that it has says whether it took the operation.
   * @param operate has the worker seal the vault anew
   * @param onTaken done once this device has the keys, also where that shows later
   * @throws AppError `unreachable` while it can't be known
   */
  renew(
    prove: Prove,
    operate: (vault: StoredVault) => Promise<Operated>,
    onTaken?: () => Promise<void>,
  ): Promise<void>;
  /** Asks for the password, and takes over the keys that another device has renewed. @throws AppError `cancelled` */
  takeOver(): Promise<void>;
  /**
   * Asks for the password, and goes on with the older vault that the relay has, under renewed keys. @throws AppError
   * `cancelled`
   */
  acceptOlder(): Promise<void>;
  /** No keys are waited for any more. */
  stop(): void;
}

/** A vault that is sealed anew, and the call by which the relay takes it. */
export interface Operated {
  readonly vault: Pick<RotatedVault, 'sealedVault' | 'recoveryWrap'>;
  /** It ends the recovery key on purpose. */
  readonly endsRecoveryKey?: true;
  readonly submit: () => Promise<unknown>;
}

/** A vault that the relay may have taken. */
interface Pending {
  readonly sealedVault: string;
  readonly onTaken: () => Promise<void>;
  adopting: Promise<void> | null;
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
  let pending: Pending | null = null;
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

  async function onVault({ sealedVault, version }: Pick<Vault, 'version' | 'sealedVault'>): Promise<boolean> {
    seenVersion = Math.max(seenVersion, version);
    if (pending?.sealedVault === sealedVault) await adopt(pending);
    const older = await isOlder(version);
    store.set(olderVaultAtom, () => older);
    return compare();
  }

  /** Asks once more before it says so: an answer may have been overtaken by a renewal here. */
  async function isOlder(version: number): Promise<boolean> {
    return version < (await crypto.vaultVersion()) && (await relayVault({ api, crypto })) === 'older';
  }

  /** Takes over the keys of a vault that the relay has, once. */
  function adopt(taken: Pending): Promise<void> {
    taken.adopting ??= (async () => {
      await crypto.adoptRenewedKeys(taken.sealedVault);
      if (pending === taken) pending = null;
      await compare();
      await taken.onTaken();
      sessionEvents.emit('keysRenewed', { vaultVersion: heldVersion ?? seenVersion });
      // The operation is done, whatever becomes of this.
      background(accountStates.load);
    })();
    return taken.adopting;
  }

  /** Returns whether the relay has taken a vault although the call for it failed. @throws AppError `unreachable` */
  async function wasTaken(sealed: Pending, failure: unknown): Promise<boolean> {
    try {
      return (await api.getVault()).sealedVault === sealed.sealedVault;
    } catch (error) {
      if (apiErrorOf(failure) !== null && !mayBeDone(failure)) throw failure;
      throw isPassing(error) ? new AppError('unreachable', t('keys.uncertain'), { cause: error }) : failure;
    }
  }

  async function readVault(prove: Prove): Promise<StoredVault> {
    const { sealedVault, version } = await api.getVault();
    const { passwordWrap } = await api.getVaultWraps(prove);
    return { sealedVault, version, passwordWrap };
  }

  async function renew(
    prove: Prove,
    operate: (vault: StoredVault) => Promise<Operated>,
    onTaken: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const { endsRecoveryKey = false, submit, vault } = await operate(await readVault(prove));
    const sealed: Pending = { sealedVault: vault.sealedVault, onTaken, adopting: null };
    pending = sealed;
    try {
      await submit();
    } catch (failure) {
      // An answer to a second attempt may say that the first one was taken.
      if (!(await wasTaken(sealed, failure))) {
        if (pending === sealed) pending = null;
        throw failure;
      }
    }
    await adopt(sealed);
    // A recovery key from before vaults held its public half can't be kept.
    if (vault.recoveryWrap === null && !endsRecoveryKey && store.get(recoveryKeyAtom) === 'present') {
      store.set(recoveryKeyAtom, () => 'none' as const);
      store.set(showToastAtom, 'info', t('recovery.ended'));
    }
  }

  return {
    async onVault(vault) {
      await onVault(vault);
    },

    isBehind: async () => onVault(await api.getVault()),

    renew,

    async acceptOlder() {
      const target = store.get(currentUserAtom)?.username ?? '';
      const prove = await confirmation.confirm({ kind: 'accept-older-vault', target, id: null });
      try {
        await renew(
          prove,
          async (stored) => {
            const vault = await crypto.acceptOlderVault(stored);
            return { vault, submit: () => api.putVault(vault, prove) };
          },
          async () => {
            seenVersion = 0;
            store.set(olderVaultAtom, () => false);
          },
        );
      } catch (error) {
        throw toAppError(error, t('keys.acceptOlderFailed'));
      }
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
