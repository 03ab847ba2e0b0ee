import { coalesce } from '../../lib/coalesce.ts';
import { isApiError } from '../../net/errors.ts';
import { realtimeStatusAtom } from '../../store/connection.ts';
import type { Deps } from './deps.ts';
import { failureCode } from './failures.ts';
import { relayVault } from './vaultVersion.ts';

/** The account state at the relay: what the person's devices know together, sealed by the worker. */
export interface AccountStates {
  /**
   * Takes over what other devices have put there, and only reads. A device that has just signed in does so before it meets
   * anybody: whom the person has known for long is nobody new to it.
   */
  read(): Promise<void>;
  /** Returns whether an event of the relay tells of this tab's own write, which has nothing new for it. */
  takeEcho(): boolean;
  /** Everything is read anew, which has in it what events would tell of. */
  forgetEchoes(): void;
  /** Takes over what other devices have put there, and adds what this one knows besides. */
  load(): Promise<void>;
  /**
   * Does the same, and asks once more, for the vault as well. @returns whether what the relay has by then is what this
   * device has
   */
  isSettled(): Promise<boolean>;
  /**
   * Replaces the state, whatever other devices do to it meanwhile.
   * @param change seals what becomes of the state as it is, null where there is none; asked again when it has moved
   */
  replace(change: (sealedState: string | null) => Promise<string>): Promise<void>;
}

const maxAttempts = 4;

export function createAccountStates({
  api,
  crypto,
  store,
}: Pick<Deps, 'api' | 'crypto' | 'store'>): AccountStates {
  /** The number of events still to come of this tab's own writes. */
  let echoes = 0;

  async function put(version: number, sealed: string): Promise<void> {
    const isAwaited = store.get(realtimeStatusAtom) === 'connected';
    if (isAwaited) echoes += 1;
    try {
      await api.putAccountState({ version, sealed });
    } catch (error) {
      if (isAwaited) echoes = Math.max(0, echoes - 1);
      throw error;
    }
    await crypto.adoptState(sealed);
  }

  /** Returns whether a state that this device has no keys for is another device's, which has renewed them. */
  async function isBehind(error: unknown): Promise<boolean> {
    if (failureCode(error) !== 'missing-key') throw error;
    return (await relayVault({ api, crypto })) === 'newer';
  }

  /** Takes over a state. @returns what is to be put in its place; null for nothing */
  async function adopt(sealed: string | null): Promise<string | null> {
    try {
      return await crypto.adoptState(sealed);
    } catch (error) {
      return (await isBehind(error)) ? null : crypto.adoptState(sealed, true);
    }
  }

  /** One at a time, so that this device isn't too late for itself. */
  const load = coalesce(async () => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const { sealed, version } = await api.getAccountState();
      const due = await adopt(sealed);
      if (due === null) return;
      try {
        await put(version, due);
        return;
      } catch (error) {
        // Another device was quicker: its state is merged, too. After several attempts the next load does that.
        if (!isApiError(error, 'stale-version')) throw error;
      }
    }
  });

  return {
    async read() {
      await adopt((await api.getAccountState()).sealed);
    },

    load: () => load(),

    async isSettled() {
      await load();
      const { sealed } = await api.getAccountState();
      return (await adopt(sealed)) === null && (await relayVault({ api, crypto })) === 'same';
    },

    takeEcho() {
      if (echoes === 0) return false;
      echoes -= 1;
      return true;
    },

    forgetEchoes() {
      echoes = 0;
    },

    async replace(change) {
      for (let attempt = 1; ; attempt += 1) {
        const { sealed, version } = await api.getAccountState();
        const next = await change(sealed).catch(async (error: unknown) => {
          if (await isBehind(error)) throw error;
          return change(null);
        });
        try {
          await put(version, next);
          return;
        } catch (error) {
          if (!isApiError(error, 'stale-version') || attempt === maxAttempts) throw error;
        }
      }
    },
  };
}
