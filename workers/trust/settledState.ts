/** The account state that was taken over last and left nothing to add, so that reading it again opens no pin. */
import { equalBytes } from '@sinetti/crypto-core';
import type { SealedState } from '../api/arguments.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Guarded } from '../codec/guards.ts';
import type { AccountOnDevice } from '../session/session.ts';
import { type Transaction, withinFirst } from '../storage/db.ts';

/** The account state as the relay has it; null for none. */
export type StoredState = Guarded<typeof SealedState>;

export interface SettledState {
  /** Returns whether that state is given again, and nothing has changed here since. */
  isSame(
    tx: Transaction,
    account: AccountOnDevice,
    stored: StoredState,
    hasAllKeys: boolean,
  ): Promise<boolean>;
  keep(tx: Transaction, account: AccountOnDevice, stored: StoredState, hasAllKeys: boolean): Promise<void>;
}

interface Kept {
  readonly stored: NonNullable<StoredState>;
  readonly trace: string;
}

export function createSettledState(): SettledState {
  const kept = new WeakMap<AccountOnDevice, Kept>();
  return {
    async isSame(tx, account, stored, hasAllKeys) {
      const last = kept.get(account);
      if (last === undefined || stored === null) return false;
      return isSameState(last.stored, stored) && last.trace === (await traceOf(tx, account, hasAllKeys));
    },
    async keep(tx, account, stored, hasAllKeys) {
      if (stored !== null) kept.set(account, { stored, trace: await traceOf(tx, account, hasAllKeys) });
    },
  };
}

/** Returns whether head and segments are the same: what the relay leaves out has to be written again. */
function isSameState(one: Kept['stored'], other: Kept['stored']): boolean {
  const [segments, others] = [one.segments, other.segments];
  return (
    equalBytes(one.sealed, other.sealed) &&
    segments.length === others.length &&
    segments.every((segment, i) => equalBytes(segment, others[i] ?? new Uint8Array()))
  );
}

/** Names the records that the result depends on. Each write seals with another nonce, and so ends in another tag. */
async function traceOf(tx: Transaction, { userId }: AccountOnDevice, hasAllKeys: boolean): Promise<string> {
  const device = tx.objectStore('device');
  const rows = await Promise.all([
    tx.objectStore('pins').getAll(),
    tx.objectStore('revocations').getAll(withinFirst(userId)),
    Promise.all(['keys', 'marks'].map((key) => device.get(key))),
  ]);
  const tags = rows.map((some) =>
    some.map((row) => (row === undefined ? '' : toBase64Url(row.slice(-16)))).join(' '),
  );
  return [String(hasAllKeys), ...tags].join('|');
}
