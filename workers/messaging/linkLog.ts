/** Taking the running hash on from where the member who let this device in had read (PROTOCOL section 10). */
import { ConversationId, check, Digests } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { fromBase64Url } from '../codec/base64url.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import { inTransaction, type TransactionDeps } from '../conversation/conversationTransaction.ts';
import { recordDifference } from '../conversation/events.ts';
import type { Session } from '../session/session.ts';

export function createLogLinking(deps: TransactionDeps, session: Session) {
  return {
    async linkLog(id, input) {
      const conversationId = check('linkLog', ConversationId, id);
      const given = check('linkLog', Digests, input);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      const digests = given.map(({ seq, digest }) => [seq, fromBase64Url(digest)] as const);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const differing = await transaction.chain.linking.link(new Map(digests.filter(isDecoded)));
        const event = await recordDifference(transaction, differing, deps.env);
        return { messages: [], events: event === null ? [] : [event], state: await transaction.finish() };
      });
    },
  } satisfies Partial<CryptoApi>;
}

function isDecoded(entry: readonly [number, Uint8Array | null]): entry is readonly [number, Uint8Array] {
  return entry[1] !== null;
}
