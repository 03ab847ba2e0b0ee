import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  acknowledgementTimeoutMs,
  connectTimeoutMs,
  createRealtime,
  pingIntervalMs,
  type Realtime,
  type RealtimeListeners,
} from '#src/net/mqtt.ts';
import { capturedLog } from './support/capturedLog.ts';
import { FakeClock } from './support/fakeClock.ts';
import { asMqttClient, FakeMqttClient, type Publication } from './support/fakeMqttClient.ts';

const me = '00000000-0000-4000-8000-000000000001';
const peer = '00000000-0000-4000-8000-000000000002';
const conversationId = `direct:${me}:${peer}`;
const groupId = '00000000-0000-4000-8000-0000000000a1';
const time = '2026-03-01T12:00:00.000Z';

const message = {
  type: 'message',
  messageId: '00000000-0000-4000-8000-000000000003',
  senderId: me,
  recipientId: peer,
  epoch: 3,
  content: 'AAAA',
  timestamp: time,
} as const;

let clients: FakeMqttClient[];
let clock: FakeClock;
let token: string | null;
let lines: string[];
let realtime: Realtime;
const listeners = {
  onStatus: vi.fn<RealtimeListeners['onStatus']>(),
  onEvent: vi.fn<RealtimeListeners['onEvent']>(),
  onPresence: vi.fn<RealtimeListeners['onPresence']>(),
  onTyping: vi.fn<RealtimeListeners['onTyping']>(),
  onUnauthorized: vi.fn<RealtimeListeners['onUnauthorized']>(),
};

beforeEach(() => {
  clients = [];
  clock = new FakeClock();
  token = 'first.token.x';
  for (const listener of Object.values(listeners)) listener.mockClear();
  const captured = capturedLog();
  lines = captured.lines;
  realtime = createRealtime({
    url: 'wss://relay.example/mqtt',
    userId: me,
    token: () => token,
    listeners,
    clock,
    random: () => 1,
    log: captured.log,
    connect: (_url, options) => {
      const client = new FakeMqttClient(options);
      clients.push(client);
      return asMqttClient(client);
    },
  });
});

function client(index = clients.length - 1): FakeMqttClient {
  const found = clients[index];
  if (found === undefined) throw new Error('no client was made');
  return found;
}

function connected(): FakeMqttClient {
  realtime.open();
  client().accept();
  return client();
}

function publication(): Publication {
  const found = client().publications.at(-1);
  if (found === undefined) throw new Error('nothing was published');
  return found;
}

const statuses = () => listeners.onStatus.mock.calls.map(([status]) => status);

describe('connecting by MQTT', () => {
  it('begins a clean MQTT 5 session with the token as user property', () => {
    realtime.open();
    expect(client().options).toMatchObject({
      protocolVersion: 5,
      clean: true,
      keepalive: 30,
      reconnectPeriod: 0,
      queueQoSZero: false,
      timerVariant: 'native',
      clientId: `sinetti_${me}_${clock.now()}`,
      properties: { sessionExpiryInterval: 0, userProperties: { token: 'first.token.x' } },
    });
  });

  it('is connected once it hears its own topic', () => {
    realtime.open();
    client().emit('connect');
    expect(realtime.isConnected()).toBe(false);
    expect(client().subscriptions).toEqual([`user/${me}/messages`]);
    client().accept();
    expect(realtime.isConnected()).toBe(true);
    expect(statuses()).toEqual(['connecting', 'connected']);
  });

  it('is not set up without a token, and is once there is one', async () => {
    token = null;
    realtime.open();
    await clock.advance(500);
    expect(clients).toHaveLength(0);
    token = 'late.token.x';
    await clock.advance(5_000);
    expect(clients).toHaveLength(1);
  });

  it('gives up on a relay that does not answer within 10 seconds', async () => {
    realtime.open();
    // mqtt.js has a timer of its own, and no word for what it ends.
    expect(client(0).options.connectTimeout).toBeGreaterThan(connectTimeoutMs);
    await clock.advance(connectTimeoutMs);
    expect(client(0).ended).toBe(true);
    expect(statuses()).toEqual(['connecting', 'reconnecting']);
    expect(lines).toEqual(['warn realtime-closed code="timeout"']);
  });

  it('fails when its own topic is refused', () => {
    realtime.open();
    client().accept(0x87);
    expect(realtime.isConnected()).toBe(false);
    expect(statuses()).toEqual(['connecting', 'reconnecting']);
  });

  it('says when the relay refuses the token', () => {
    realtime.open();
    client().emit('error', Object.assign(new Error('Connection refused: Not authorized'), { code: 0x87 }));
    expect(listeners.onUnauthorized).toHaveBeenCalledExactlyOnceWith('first.token.x', null);
  });

  it('says why the relay refuses the token', () => {
    realtime.open();
    const properties = { userProperties: { code: 'device-revoked' } };
    client().emit('packetreceive', { cmd: 'connack', sessionPresent: false, reasonCode: 0x87, properties });
    client().emit('error', Object.assign(new Error('Connection refused: Not authorized'), { code: 0x87 }));
    expect(listeners.onUnauthorized).toHaveBeenCalledExactlyOnceWith('first.token.x', 'device-revoked');
  });

  it.each([
    ['session-expired', 'session-expired'],
    ['from-the-future', null],
  ])('says when the relay ends the session, and why: %s', (given, code) => {
    const properties = { userProperties: { code: given } };
    connected().emit('disconnect', { cmd: 'disconnect', reasonCode: 0x87, properties });
    expect(listeners.onUnauthorized).toHaveBeenCalledExactlyOnceWith('first.token.x', code);
    expect(statuses().at(-1)).toBe('reconnecting');
  });
});

describe('reconnecting by MQTT', () => {
  it('waits longer after each failure in a row, and reads the token anew', async () => {
    connected().emit('close');
    token = 'second.token.x';
    await clock.advance(999);
    expect(clients).toHaveLength(1);
    await clock.advance(1);
    expect(client().options.properties?.userProperties).toEqual({ token: 'second.token.x' });
    client().emit('error', new Error('connect ECONNREFUSED'));
    client().emit('close');
    await clock.advance(1_999);
    expect(clients).toHaveLength(2);
    await clock.advance(1);
    expect(clients).toHaveLength(3);
  });

  it('begins with a short wait again after a success', async () => {
    connected().emit('close');
    await clock.advance(1_000);
    client().accept();
    client().emit('close');
    await clock.advance(1_000);
    expect(clients).toHaveLength(3);
  });

  it('takes no notice of a session that has been replaced', async () => {
    const first = connected();
    first.emit('close');
    await clock.advance(1_000);
    client().accept();
    first.receive(`user/${me}/messages`, { type: 'contacts', lists: ['contacts'] });
    first.emit('close');
    expect(listeners.onEvent).not.toHaveBeenCalled();
    expect(realtime.isConnected()).toBe(true);
  });

  it('ends with close()', async () => {
    connected();
    realtime.close();
    client().emit('close');
    await clock.advance(600_000);
    expect(clients).toHaveLength(1);
    expect(client().ended).toBe(true);
    expect(statuses()).toEqual(['connecting', 'connected', 'closed']);
    expect(clock.pending).toBe(0);
  });
});

it('pings every 30 seconds', async () => {
  connected();
  await clock.advance(pingIntervalMs);
  expect(publication()).toMatchObject({
    topic: 'ping',
    qos: 0,
    payload: { type: 'ping', userId: me, timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
  });
  await clock.advance(pingIntervalMs);
  expect(client().publications).toHaveLength(2);
});

describe('a message that arrives by MQTT', () => {
  it('is given on as the event that the schema parsed', () => {
    const event = { type: 'delivered', conversationId, messageId: message.messageId, readerId: peer, seq: 4 };
    connected().receive(`user/${me}/messages`, { ...event, more: 'than asked for' });
    expect(listeners.onEvent).toHaveBeenCalledExactlyOnceWith(event);
  });

  it.each([
    ['no JSON', '{'],
    ['an unknown type', { type: 'typing' }],
    ['a missing field', { type: 'welcome' }],
    ['a number where an id belongs', { type: 'welcome', conversationId: 7 }],
    ['null', 'null'],
  ])('is dropped and logged by its code when it is %s', (_name, payload) => {
    const session = connected();
    session.receive(`user/${me}/messages`, payload);
    expect(listeners.onEvent).not.toHaveBeenCalled();
    expect(lines).toEqual([expect.stringContaining('invalid-event')]);
    session.receive(`user/${me}/messages`, { type: 'contacts', lists: ['contacts'] });
    expect(listeners.onEvent).toHaveBeenCalledOnce();
  });

  it("tells the status of the open chat's contact", () => {
    const session = connected();
    realtime.watch({ kind: 'status', userId: peer });
    session.receive(`user/${peer}/status`, { userId: peer, online: true });
    expect(session.subscriptions).toContain(`user/${peer}/status`);
    expect(listeners.onPresence).toHaveBeenCalledExactlyOnceWith({ userId: peer, online: true });
    realtime.watch(null);
    expect(session.unsubscriptions).toEqual([`user/${peer}/status`]);
  });

  it('tells the messages of the open group, and nothing that is not of it', () => {
    const session = connected();
    const group = `group/${groupId}/messages`;
    realtime.watch({ kind: 'group', groupId });
    expect(session.subscriptions).toContain(group);
    const event = { type: 'available', conversationId: `group:${groupId}`, seq: 4 };
    session.receive(group, event);
    session.receive(group, { ...event, conversationId });
    session.receive(group, { type: 'contacts', lists: ['contacts'] });
    expect(listeners.onEvent).toHaveBeenCalledExactlyOnceWith(event);
    expect(lines).toHaveLength(2);
    realtime.watch({ kind: 'status', userId: peer });
    expect(session.unsubscriptions).toEqual([group]);
    session.receive(group, event);
    expect(listeners.onEvent).toHaveBeenCalledOnce();
    expect(lines).toHaveLength(2);
  });

  it('keeps the topic of the chat that stays open', () => {
    const session = connected();
    realtime.watch({ kind: 'group', groupId });
    realtime.watch({ kind: 'group', groupId });
    expect(session.unsubscriptions).toEqual([]);
    expect(session.subscriptions.filter((topic) => topic.startsWith('group/'))).toHaveLength(1);
  });

  it("does not take one person's status from another's topic", () => {
    connected().receive(`user/${peer}/status`, { userId: me, online: false });
    expect(listeners.onPresence).not.toHaveBeenCalled();
  });

  it('watches the open chat again after a reconnection', async () => {
    connected();
    realtime.watch({ kind: 'status', userId: peer });
    client().emit('close');
    await clock.advance(1_000);
    client().accept();
    expect(client().subscriptions).toContain(`user/${peer}/status`);
  });
});

describe('who is writing, by MQTT', () => {
  it('is heard on a topic of its own, as it came, and by no other', () => {
    const session = connected();
    expect(session.subscriptions).toContain(`user/${me}/typing`);
    session.receive(`user/${me}/typing`, { type: 'typing' });
    session.receive(`user/${me}/typing`, 'no JSON');
    expect(listeners.onTyping.mock.calls).toEqual([[{ type: 'typing' }], [undefined]]);
    session.receive(`user/${me}/messages`, { type: 'typing' });
    expect(listeners.onTyping).toHaveBeenCalledTimes(2);
    expect(listeners.onEvent).not.toHaveBeenCalled();
  });

  it('is published with QoS 0, and is nothing without a connection', () => {
    const topic = `user/${peer}/typing`;
    realtime.publishFleeting(topic, {});
    connected();
    realtime.publishFleeting(topic, { type: 'typing' });
    expect(publication()).toMatchObject({ topic, payload: { type: 'typing' }, qos: 0 });
    client().emit('close');
    realtime.publishFleeting(topic, { type: 'typing' });
    expect(clients.flatMap(({ publications }) => publications)).toHaveLength(1);
  });
});

describe('publishing by MQTT', () => {
  it('puts a message to a group on its topic', () => {
    connected();
    const { recipientId: _recipientId, ...common } = message;
    const toGroup = { ...common, type: 'group_message', groupId } as const;
    void realtime.publish(toGroup);
    expect(publication()).toMatchObject({ topic: `group/${groupId}/messages`, qos: 1, payload: toGroup });
  });

  it('resolves with where the relay stored the message', async () => {
    connected();
    const sent = realtime.publish(message);
    expect(publication()).toMatchObject({ topic: `user/${peer}/messages`, qos: 1, payload: message });
    client().acknowledge({ seq: '12', timestamp: time });
    await expect(sent).resolves.toEqual({ seq: 12, timestamp: time });
  });

  it('rejects a refusal with its code and the current epoch', async () => {
    connected();
    const sent = realtime.publish(message);
    client().acknowledge({ code: 'stale-epoch', epoch: '5' }, 0x83);
    await expect(sent).rejects.toMatchObject({
      name: 'ApiError',
      status: 409,
      code: 'stale-epoch',
      epoch: 5,
    });
  });

  it('takes a refusal without a known code as internal', async () => {
    connected();
    const sent = realtime.publish(message);
    client().acknowledge({}, 0x80);
    await expect(sent).rejects.toMatchObject({ code: 'internal', epoch: undefined });
  });

  it.each([
    ['without a position', { timestamp: time }],
    ['with a position that is no number', { seq: 'twelve', timestamp: time }],
    ['without a time', { seq: '12' }],
  ])('rejects an acknowledgement %s', async (_name, userProperties) => {
    connected();
    const sent = realtime.publish(message);
    client().acknowledge(userProperties);
    await expect(sent).rejects.toMatchObject({ code: 'invalid-response' });
  });

  it('rejects what was not acknowledged when the connection is lost', async () => {
    connected();
    const sent = realtime.publish(message);
    client().emit('close');
    await expect(sent).rejects.toMatchObject({ name: 'NetworkError', code: 'unreachable' });
  });

  it('rejects what is not acknowledged in time', async () => {
    connected();
    const failure = realtime.publish(message).catch((error: unknown) => error);
    await clock.advance(acknowledgementTimeoutMs);
    expect(await failure).toMatchObject({ name: 'NetworkError', code: 'timeout' });
  });

  it('needs a connection', async () => {
    await expect(realtime.publish(message)).rejects.toThrow('MQTT client not initialized');
  });
});
