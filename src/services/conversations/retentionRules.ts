import type { RetentionRules } from '../../crypto/client.ts';
import { isApiError } from '../../net/errors.ts';
import type { SessionDeps } from '../core/deps.ts';
import { registerStart } from '../core/place.ts';

/**
 * Asks the relay for the rules by which it deletes, after it has given entries that it says it has deleted: it may have
 * changed its rules before. A copied storage finds out first, since another place may have acknowledged what it has not.
 */
export async function retentionRules(deps: SessionDeps, conversationId: string): Promise<RetentionRules> {
  const { api, crypto } = deps;
  await registerStart(deps);
  const [{ fewestEntryDays: days }, { deviceId }, receipts] = await Promise.all([
    api.getStorage(),
    crypto.openDevice(),
    api.listReceipts(conversationId).catch((error: unknown) => {
      if (isApiError(error, 'not-found')) return [];
      throw error;
    }),
  ]);
  const own = receipts.find((receipt) => receipt.deviceId === deviceId);
  if (own === undefined) return { days, ownReceipt: null };
  const { epoch, position, sealed, signature } = own;
  return { days, ownReceipt: { epoch, position, sealed, signature } };
}
