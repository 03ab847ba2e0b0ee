import { mqttPath, presencePath } from '../net/contract.ts';
import type { Operator } from '../operator/index.ts';
import type { RelayAddresses } from '../services/client/client.ts';

/** @param pageOrigin the relay's origin unless the settings name another host */
export function relayAddresses(
  settings: Pick<Operator, 'apiHost' | 'mqttUrl'>,
  pageOrigin: string,
): RelayAddresses {
  const apiHost = settings.apiHost ?? '';
  const socketOrigin = new URL(apiHost === '' ? pageOrigin : apiHost);
  socketOrigin.protocol = socketOrigin.protocol === 'https:' ? 'wss:' : 'ws:';
  return {
    apiHost,
    mqttUrl: settings.mqttUrl ?? new URL(mqttPath, socketOrigin).href,
    presenceUrl: new URL(presencePath, socketOrigin).href,
  };
}
