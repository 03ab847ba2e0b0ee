import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';

export function storageHandlers({ retentionDays }: Services) {
  return { getStorage: () => retentionDays.storage() } satisfies Partial<Handlers>;
}
