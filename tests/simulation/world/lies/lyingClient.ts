import type { IPublishPacket, MqttClient, Packet } from 'mqtt';
import type { Line } from '../network.ts';

/** An MQTT client to whom the relay may say something else than it says to others. */
export function lyingClient(client: MqttClient, line: Line): MqttClient {
  type On = (event: string, listener: (...given: never[]) => void) => MqttClient;
  const on = client.on.bind(client) as On;
  /** The topic of each publication, by its packet identifier. */
  const topics = new Map<number, string>();
  client.on('packetsend', (packet) => {
    if (packet.cmd !== 'publish') return;
    line.published(packet.payload.toString());
    if (packet.messageId !== undefined) topics.set(packet.messageId, packet.topic);
  });

  const told = (listener: (topic: string, payload: Buffer, packet: IPublishPacket) => void) => {
    return (topic: string, payload: Buffer, packet: IPublishPacket) => {
      if (line.liar === null) return listener(topic, payload, packet);
      const event = line.liar.event(JSON.parse(payload.toString()));
      if (event === null) return;
      const said = Buffer.from(JSON.stringify(event));
      listener(topic, said, { ...packet, payload: said });
    };
  };
  const acknowledged = (listener: (packet: Packet) => void) => (packet: Packet) => {
    const properties = packet.cmd === 'puback' ? packet.properties?.userProperties : undefined;
    const seq = properties?.['seq'];
    if (line.liar !== null && properties !== undefined && seq !== undefined) {
      const topic = topics.get(packet.messageId ?? 0) ?? '';
      properties['seq'] = String(line.liar.acknowledged(Number(seq), topic));
    }
    listener(packet);
  };
  Object.assign(client, {
    on(event: string, listener: (...given: never[]) => void) {
      if (event === 'message') return on(event, told(listener as never) as never);
      if (event === 'packetreceive') return on(event, acknowledged(listener as never) as never);
      return on(event, listener);
    },
  });
  return client;
}
