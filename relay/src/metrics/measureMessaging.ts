import { toApiError } from '../errors.ts';
import type { Messaging } from '../messaging/messaging.ts';
import type { Metrics, StoredKind } from './metrics.ts';

/** The same use cases, measured where REST and MQTT meet. */
export function measureMessaging(messaging: Messaging, metrics: Metrics): Messaging {
  async function measure<T>(kind: StoredKind, store: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      const stored = await store();
      metrics.stored(kind, (performance.now() - start) / 1000);
      return stored;
    } catch (error) {
      metrics.refused(kind, toApiError(error).code);
      metrics.quotaRefused(error);
      throw error;
    }
  }

  return {
    ...messaging,
    send: (...call) => measure('message', () => messaging.send(...call)),
    sendToGroup: (...call) => measure('message', () => messaging.sendToGroup(...call)),
    commit: (...call) => measure('commit', () => messaging.commit(...call)),
  };
}
