import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import type { Packet } from 'mqtt-packet';
import type { Person } from './harness.ts';

/** The real mqtt client, for one test at a time: `endAll` after each. */
export function createClients() {
  const clients: MqttClient[] = [];
  const settings = (person: Pick<Person, 'token'>, options: IClientOptions): IClientOptions => ({
    protocolVersion: 5,
    clean: true,
    reconnectPeriod: 0,
    properties: { userProperties: { token: person.token } },
    ...options,
  });
  return {
    async connect(
      url: string,
      person: Pick<Person, 'token'>,
      options: IClientOptions = {},
    ): Promise<MqttClient> {
      const client = await mqtt.connectAsync(url, settings(person, options));
      clients.push(client);
      return client;
    },
    /** The gateway's answer to CONNECT. */
    async connack(url: string, person: Pick<Person, 'token'>, options: IClientOptions = {}): Promise<Packet> {
      const client = mqtt.connect(url, settings(person, options));
      clients.push(client);
      return nextPacket(client, 'connack');
    },
    async endAll(): Promise<void> {
      await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
    },
  };
}

/** The reason code that the gateway gives for its DISCONNECT. */
export function disconnectReason(client: MqttClient): Promise<number | undefined> {
  return new Promise((resolve) => {
    client.once('disconnect', (packet) => resolve(packet.reasonCode));
  });
}

export function nextPacket(client: MqttClient, cmd: Packet['cmd']): Promise<Packet> {
  return new Promise((resolve) => {
    const listener = (packet: Packet) => {
      if (packet.cmd !== cmd) return;
      client.off('packetreceive', listener);
      resolve(packet);
    };
    client.on('packetreceive', listener);
  });
}

export function nextMessage(client: MqttClient): Promise<{ topic: string; payload: unknown }> {
  return new Promise((resolve) => {
    client.once('message', (topic, payload) => {
      resolve({ topic, payload: JSON.parse(payload.toString()) as unknown });
    });
  });
}

/** Publishes with QoS 1 and returns what PUBACK says. */
export async function puback(client: MqttClient, topic: string, payload: string | Buffer) {
  const answer = nextPacket(client, 'puback');
  await client.publishAsync(topic, payload, { qos: 1 }).catch(() => {});
  const packet = await answer;
  if (packet.cmd !== 'puback') throw new Error(`got ${packet.cmd}`);
  return { reasonCode: packet.reasonCode ?? 0, ...packet.properties?.userProperties };
}

/** Subscribes with QoS 1 and returns what SUBACK says of each filter. */
export async function granted(client: MqttClient, ...filters: string[]): Promise<unknown> {
  const answer = nextPacket(client, 'suback');
  await client.subscribeAsync(filters, { qos: 1 }).catch(() => {});
  const packet = await answer;
  return packet.cmd === 'suback' ? packet.granted : null;
}

export function pingOf(person: Pick<Person, 'id'>): string {
  return JSON.stringify({ type: 'ping', userId: person.id, timestamp: '2026-03-01T12:00:00.000Z' });
}
