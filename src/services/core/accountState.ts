import type { SealedState } from '../../crypto/client.ts';
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
  replace(change: (sealedState: SealedState | null) => Promise<SealedState>): Promise<void>;
}

const maxAttempts = 4;

export function createAccountStates({
  api,
  crypto,
  store,
}: Pick<Deps, 'api' | 'crypto' | 'store'>): AccountStates {
  /** The number of events still to come of this tab's own writes. */
  let echoes = 0;

  async function get(): Promise<{ readonly version: number; readonly state: SealedState | null }> {
    const { sealed, segments, version } = await api.getAccountState();
    return { version, state: sealed === null ? null : { sealed, segments } };
  }

  /** @param before the state that it takes the place of, whose segments the relay has */
  async function put(version: number, state: SealedState, before: SealedState | null): Promise<void> {
    const known = new Set(before?.segments);
    const isAwaited = store.get(realtimeStatusAtom) === 'connected';
    if (isAwaited) echoes += 1;
    try {
      const segments = state.segments.filter((segment) => !known.has(segment));
      await api.putAccountState({ version, sealed: state.sealed, segments });
    } catch (error) {
      if (isAwaited) echoes = Math.max(0, echoes - 1);
      throw error;
    }
    await crypto.adoptState(state);
  }

  /** Returns whether a state that this device has no keys for is another device's, which has renewed them. */
  async function isBehind(error: unknown): Promise<boolean> {
    if (failureCode(error) !== 'missing-key') throw error;
    return (await relayVault({ api, crypto })) === 'newer';
  }

  /** Takes over a state. @returns what is to be put in its place; null for nothing */
  async function adopt(state: SealedState | null): Promise<SealedState | null> {
    try {
      return await crypto.adoptState(state);
    } catch (error) {
      return (await isBehind(error)) ? null : crypto.adoptState(state, true);
    }
  }

  /** One at a time, so that this device isn't too late for itself. */
  const load = coalesce(async () => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const { state, version } = await get();
      const due = await adopt(state);
      if (due === null) return;
      try {
        await put(version, due, state);
        return;
      } catch (error) {
        // Another device was quicker: its state is merged, too. After several attempts the next load does that.
        if (!isApiError(error, 'stale-version')) throw error;
      }
    }
  });

  return {
    async read() {
      await adopt((await get()).state);
    },

    load: () => load(),

    async isSettled() {
      await load();
      const { state } = await get();
      return (await adopt(state)) === null && (await relayVault({ api, crypto })) === 'same';
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
        const { state, version } = await get();
        const next = await change(state).catch(async (error: unknown) => {
          if (await isBehind(error)) throw error;
          return change(null);
        });
        try {
          await put(version, next, state);
          return;
        } catch (error) {
          if (!isApiError(error, 'stale-version') || attempt === maxAttempts) throw error;
        }
      }
    },
  };
}
