import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';
import { bytes, text } from './encoding.ts';

type HistoryHandlers = Pick<Handlers, 'putHistory' | 'getHistory' | 'deleteHistory'>;

export function historyHandlers({ history }: Services): HistoryHandlers {
  return {
    putHistory: async ({ session, body }) => {
      const items = body.items.map(({ sealed, seq, ...item }) => ({
        ...item,
        seq: seq ?? null,
        sealed: bytes(sealed),
      }));
      return history.store(session.userId, items);
    },

    getHistory: async ({ session, query }) =>
      (await history.page(session.userId, query)).map(({ sealed, seq, ...item }) => ({
        ...item,
        ...(seq === null ? {} : { seq }),
        sealed: text(sealed),
      })),

    deleteHistory: ({ session, query }) => history.delete(session.userId, query.conversationId),
  };
}
