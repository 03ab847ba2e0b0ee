import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';
import { bytes, text } from './encoding.ts';

export function historyHandlers({ accountChanges, history }: Services) {
  return {
    putHistory: async ({ session, body }) => {
      const items = body.items.map(({ sealed, seq, ...item }) => ({
        ...item,
        seq: seq ?? null,
        sealed: bytes(sealed),
      }));
      const signature = body.replaces === undefined ? null : bytes(body.replaces);
      if (signature !== null) return history.replace(session, items, signature);
      return history.store(session.userId, items, body.on === true);
    },

    getHistory: async ({ session, query }) =>
      (await history.page(session.userId, query)).map(({ sealed, seq, ...item }) => ({
        ...item,
        ...(seq === null ? {} : { seq }),
        sealed: text(sealed),
      })),

    deleteHistory: async ({ session, query: { conversationId }, requireProof }) => {
      const isAbandoned = await history.isAbandoned(session.userId, conversationId);
      if (!isAbandoned) await requireProof();
      await history.delete(session.userId, conversationId);
      if (!isAbandoned) await accountChanges.record(session, 'message-backup');
    },
  } satisfies Partial<Handlers>;
}
