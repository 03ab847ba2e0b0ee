import { ready } from '@sinetti/crypto-core';
import { safetyNumber } from '@sinetti/crypto-core/account';
import { CryptoApiError } from '../api/errors.ts';
import type { Operation } from '../api/prompt.ts';
import type { AccountOnDevice, Session } from '../session/session.ts';
import { read } from '../storage/db.ts';
import { readPin } from './pins.ts';

export const anotherKey = () => new CryptoApiError('usage', 'another key than the one shown');

/** @throws CryptoApiError `usage` unless the person has seen this very number */
export function requireNumber(seen: string, actual: string | null): void {
  if (seen !== actual) throw anotherKey();
}

/** Computes the safety number of this person and another one, by the account key that the other one may have. */
export function safetyNumberOf(
  { userId: own, device }: AccountOnDevice,
  userId: string,
  accountKey: Uint8Array,
): string {
  return safetyNumber({ userId: own, accountKey: device.accountKey }, { userId, accountKey });
}

/**
 * Returns the safety number that an operation is about, for the person to compare where no script can show another one;
 * null for an operation that is about none.
 */
export async function safetyNumberInQuestion(
  session: Session,
  { id, kind }: Pick<Operation, 'id' | 'kind'>,
): Promise<string | null> {
  if (id === null || (kind !== 'accept-account-key' && kind !== 'mark-verified')) return null;
  const account = session.accountOnDevice();
  await ready();
  const pin = await read(account.db, (tx) => readPin(tx, account, id));
  const key = (kind === 'mark-verified' ? pin?.accountKey : pin?.offered) ?? null;
  return key === null ? null : safetyNumberOf(account, id, key);
}
