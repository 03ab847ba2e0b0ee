import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';

export function storageHandlers({ config: { retention } }: Services) {
  return {
    getStorage: async () => ({ entryDays: retention.days, historyDays: retention.historyDays }),
  } satisfies Partial<Handlers>;
}
