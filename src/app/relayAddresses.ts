import { mqttPath, presencePath } from '../net/contract.ts';
import type { RelayAddresses } from '../services/client/client.ts';

/** What the build's environment may say of them (RELAY, Operation). */
export interface AddressSettings {
  readonly apiHost: string | undefined;
  readonly mqttUrl: string | undefined;
}

/** @param pageOrigin where the relay is unless the settings name another host */
export function relayAddresses(settings: AddressSettings, pageOrigin: string): RelayAddresses {
  const apiHost = settings.apiHost ?? '';
  const socketOrigin = new URL(apiHost === '' ? pageOrigin : apiHost);
  socketOrigin.protocol = socketOrigin.protocol === 'https:' ? 'wss:' : 'ws:';
  return {
    apiHost,
    mqttUrl: settings.mqttUrl ?? new URL(mqttPath, socketOrigin).href,
    presenceUrl: new URL(presencePath, socketOrigin).href,
  };
}
