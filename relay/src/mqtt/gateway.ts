import { limits, mqttPath } from '../../contract/index.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import type { Upgrades } from '../realtime/upgrade.ts';
import { Connection, type ConnectionOptions, type Takeover } from './connection.ts';
import { ReasonCode } from './reasonCodes.ts';

export interface MqttGateway {
  /** Ends every connection with Server shutting down. Resolves when all sockets are closed and all writes are done. */
  close(): Promise<void>;
}

const defaults: Omit<ConnectionOptions, 'address' | 'admitted'> = {
  connectTimeoutMs: 10_000,
  maxBufferedBytes: 1024 * 1024,
  closeTimeoutMs: 2000,
};

/**
 * Serves MQTT 5 over WebSocket: the contract's topics and no others. What it delivers and stores goes through the hub
 * and the use cases, so that REST and MQTT are two doors of one room.
 */
export function attachMqtt(
  upgrades: Upgrades,
  services: RealtimeServices,
  options: Partial<Omit<ConnectionOptions, 'address' | 'admitted'>> = {},
): MqttGateway {
  const connections = new Map<Connection, Promise<void>>();
  const takeover = new ClientIdentifiers();

  upgrades.add({
    path: mqttPath,
    protocol: 'mqtt',
    // Twice the packet limit: a packet that is too large is then answered by MQTT's own reason code.
    maxPayload: 2 * limits.mqttPacketMax,
    onSocket: (socket, address, transport, admitted) => {
      const all = { ...defaults, ...options, address, admitted };
      const connection = new Connection(socket, transport, services, all, takeover);
      const closed = new Promise<void>((resolve) => {
        socket.once('close', resolve);
      });
      const done = closed
        .then(() => connection.settled())
        .finally(() => {
          connections.delete(connection);
        });
      connections.set(connection, done);
    },
  });

  // A client that connects again looks for what it has missed.
  const stopListening = services.hub.onInterruption(() => {
    for (const connection of connections.keys()) connection.disconnect(ReasonCode.ServerBusy);
  });

  return {
    async close() {
      stopListening();
      const closing = [...connections];
      for (const [connection] of closing) connection.disconnect(ReasonCode.ServerShuttingDown);
      await Promise.all(closing.map(([, done]) => done));
    },
  };
}

/** The newest connection by a client identifier ends the former [MQTT-3.1.4-3]; each person has names of their own. */
class ClientIdentifiers implements Takeover {
  readonly #connections = new Map<string, Connection>();

  claim(userId: string, clientId: string, connection: Connection): void {
    const key = `${userId} ${clientId}`;
    this.#connections.get(key)?.disconnect(ReasonCode.SessionTakenOver);
    this.#connections.set(key, connection);
  }

  release(userId: string, clientId: string, connection: Connection): void {
    const key = `${userId} ${clientId}`;
    if (this.#connections.get(key) === connection) this.#connections.delete(key);
  }
}
