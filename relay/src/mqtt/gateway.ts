import { limits, mqttPath } from '../../contract/index.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import type { Upgrades } from '../realtime/upgrade.ts';
import { Connection, type ConnectionOptions, type Connections } from './connection.ts';
import { ReasonCode } from './reasonCodes.ts';

export interface MqttGateway {
  /** Ends every connection with Server shutting down. Resolves when all sockets are closed and all writes are done. */
  close(): Promise<void>;
}

const defaults: ConnectionOptions = {
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
  options: Partial<ConnectionOptions> = {},
): MqttGateway {
  const connections = new GatewayConnections();
  const all = { ...defaults, ...options };

  upgrades.add({
    path: mqttPath,
    protocol: 'mqtt',
    // Twice the packet limit: a packet that is too large is then answered by MQTT's own reason code.
    maxPayload: 2 * limits.mqttPacketMax,
    onSocket: (socket, address, transport, admitted) => {
      connections.open.add(new Connection(socket, transport, services, all, connections, address, admitted));
    },
  });

  // A client that connects again looks for what it has missed.
  const stopListening = services.hub.onInterruption(() => {
    for (const connection of connections.open) connection.disconnect(ReasonCode.ServerBusy);
  });

  return {
    async close() {
      stopListening();
      const closing = [...connections.open];
      for (const connection of closing) connection.disconnect(ReasonCode.ServerShuttingDown);
      await Promise.all(closing.map((connection) => connection.done()));
    },
  };
}

/** The newest connection by a client identifier ends the former [MQTT-3.1.4-3]; each person has names of their own. */
class GatewayConnections implements Connections {
  /** Connections whose sockets are open, or whose packets are still being handled. */
  readonly open = new Set<Connection>();
  readonly #byClientId = new Map<string, Connection>();

  claim(userId: string, clientId: string, connection: Connection): void {
    const key = `${userId} ${clientId}`;
    this.#byClientId.get(key)?.disconnect(ReasonCode.SessionTakenOver);
    this.#byClientId.set(key, connection);
  }

  release(userId: string, clientId: string, connection: Connection): void {
    const key = `${userId} ${clientId}`;
    if (this.#byClientId.get(key) === connection) this.#byClientId.delete(key);
  }

  remove(connection: Connection): void {
    this.open.delete(connection);
  }
}
