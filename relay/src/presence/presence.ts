import { presencePath } from '../../contract/index.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import type { Upgrades } from '../realtime/upgrade.ts';
import { type PresenceOptions, PresenceSocket, presenceCloseCode } from './presenceSocket.ts';

export interface Presence {
  /** Closes every socket with 1001. Resolves when all are closed. */
  close(): Promise<void>;
}

const defaults: PresenceOptions = {
  authenticationTimeoutMs: 5000,
  // Two pings of 30 s may be lost, and half a one is left for a slow network.
  pingTimeoutMs: 75_000,
  maxBufferedBytes: 256 * 1024,
  closeTimeoutMs: 2000,
};

/** Larger than any message of the contract: the longest holds a token of 4096 characters. */
const maxPayload = 8 * 1024;

/** Serves the presence socket: contacts, and contacts alone, see when one is online. */
export function attachPresence(
  upgrades: Upgrades,
  services: RealtimeServices,
  options: Partial<PresenceOptions> = {},
): Presence {
  const sockets = new Set<PresenceSocket>();
  const all = { ...defaults, ...options };

  upgrades.add({
    path: presencePath,
    protocol: null,
    maxPayload,
    onSocket: (socket, _address, _transport, admitted) => {
      sockets.add(new PresenceSocket(socket, services, all, sockets, admitted));
    },
  });

  // The end of a session may have been among what was missed.
  const stopListening = services.hub.onInterruption(() => {
    for (const socket of sockets) socket.checkSession();
  });

  return {
    async close() {
      stopListening();
      const closing = [...sockets];
      for (const socket of closing) socket.close(presenceCloseCode.goingAway);
      await Promise.all(closing.map((socket) => socket.done()));
    },
  };
}
