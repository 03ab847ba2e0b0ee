// The load generator: a process of its own, so that what it costs is not the server's. It does one task at a time, as
// its parent tells it, and is the same whichever server is at the other end.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MqttSocket } from './mqttSocket.mjs';
import { RestSocket } from './restSocket.mjs';

/** As long as a short text's PrivateMessage: the padded ciphertext, its signature and header. */
const contentBytes = 420;
const content = Buffer.alloc(contentBytes, 'sealed').toString('base64url');
const warmUpMs = 500;

const topicOf = (person) => `user/${person.id}/messages`;
const tasks = { throughput, restThroughput, polls, latency, fanOut, connections, hangUp };
let held = [];

process.on('message', ({ task, options }) => {
  tasks[task](options).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});

/** The JSON of a message to `receiver`, around its id. */
function messageAround(sender, receiver) {
  const filled = JSON.stringify({
    type: 'message',
    messageId: '?',
    senderId: sender.id,
    recipientId: receiver.id,
    epoch: 1,
    content,
    timestamp: new Date().toISOString(),
  });
  return filled.split('?');
}

const idMarker = '"messageId":"';

function messageIdOf(body) {
  const start = body.indexOf(idMarker) + idMarker.length;
  return body.latin1Slice(start, start + 36);
}

/** For each pair, `senders` connections that publish and one that is delivered to. */
async function openPairs(port, pairs, senders) {
  return Promise.all(
    pairs.map(async ({ sender, receiver }) => {
      const open = (person) => MqttSocket.open({ port, clientId: randomUUID(), token: person.token });
      const [to, ...from] = await Promise.all([
        open(receiver),
        ...Array.from({ length: senders }, () => open(sender)),
      ]);
      await to.subscribe(topicOf(receiver), 1);
      return { from, to, topic: topicOf(receiver), message: messageAround(sender, receiver) };
    }),
  );
}

const closePairs = (open) =>
  open.forEach(({ from, to }) => [to, ...from].forEach((socket) => socket.close()));

/** Keeps `window` messages of a connection unacknowledged until `running` says no. */
function keepPublishing(from, { topic, message: [before, after] }, window, running, onAcknowledged) {
  let packetId = 0;
  const next = () => {
    packetId = (packetId % 65_535) + 1;
    from.publish(packetId, topic, `${before}${randomUUID()}${after}`);
  };
  from.onAcknowledged = () => {
    onAcknowledged();
    if (running()) next();
  };
  for (let count = 0; count < window; count += 1) next();
}

/** Messages that are acknowledged per second, QoS 1 both ways; each must be delivered as well. */
async function throughput({ port, pairs, senders, window, seconds }) {
  const open = await openPairs(port, pairs, senders);
  let [acknowledged, delivered, running] = [0, 0, true];
  for (const pair of open) {
    pair.to.onMessage = () => void (delivered += 1);
    for (const from of pair.from) {
      const onAcknowledged = () => void (acknowledged += 1);
      keepPublishing(from, pair, window, () => running, onAcknowledged);
    }
  }
  const [perSecond, generatorLoad] = await countFor(seconds, () => [acknowledged, ownCpuSeconds()]);
  running = false;
  await settle(() => delivered);
  const lost = acknowledged - delivered;
  closePairs(open);
  return { perSecond, count: acknowledged, lost, generatorLoad };
}

async function restThroughput({ port, pairs, seconds }) {
  const state = { answered: 0, running: true };
  const posting = pairs.map(async ({ sender, receiver }) => {
    const socket = new RestSocket({ port, token: sender.token });
    while (state.running) {
      const body = JSON.stringify({ messageId: randomUUID(), epoch: 1, content });
      await socket.post(`/api/messages/user/${receiver.id}`, body);
      state.answered += 1;
    }
    socket.close();
  });
  const [perSecond] = await countFor(seconds, () => [state.answered]);
  state.running = false;
  await Promise.all(posting);
  return { perSecond, count: state.answered };
}

const polledPaths = ['contacts', 'contacts/requests', 'contacts/sent-requests', 'notifications'];

/** Asks for the lists that clients ask for every ten seconds: by their entity tags, as clients do, or whole each time. */
async function polls({ port, people, isConditional, seconds }) {
  // The relay answers from memory ten times a second at most.
  const spacingMs = 110;
  const state = { answered: 0, running: true };
  const polling = people.map(async ({ token }) => {
    const socket = new RestSocket({ port, token });
    const etags = new Map();
    while (state.running) {
      const next = delay(spacingMs);
      for (const path of polledPaths) {
        const etag = isConditional ? (etags.get(path) ?? null) : null;
        etags.set(path, await socket.poll(`/api/${path}`, etag));
        state.answered += 1;
      }
      await next;
    }
    socket.close();
  });
  const [perSecond] = await countFor(seconds, () => [state.answered]);
  state.running = false;
  await Promise.all(polling);
  return { perSecond, count: state.answered };
}

/** From publishing to delivery, in milliseconds, at a rate that leaves the server time. */
async function latency({ port, pairs, perSecond, seconds }) {
  const open = await openPairs(port, pairs, 1);
  const sentAt = new Map();
  const samples = [];
  for (const { to } of open) {
    to.onMessage = (body) => {
      const id = messageIdOf(body);
      samples.push(performance.now() - sentAt.get(id));
      sentAt.delete(id);
    };
  }
  const startedAt = performance.now();
  for (let count = 0; count < perSecond * seconds; count += 1) {
    const wait = startedAt + (count * 1000) / perSecond - performance.now();
    if (wait > 0) await delay(wait);
    const {
      from: [from],
      topic,
      message,
    } = open[count % open.length];
    const id = randomUUID();
    sentAt.set(id, performance.now());
    from.publish((count % 65_535) + 1, topic, `${message[0]}${id}${message[1]}`);
  }
  await settle(() => samples.length);
  closePairs(open);
  return { samples, lost: sentAt.size };
}

/**
 * Deliveries per second of messages that each go to as many connections as `devices` says. They come from `senders`
 * connections, as in a lively group.
 */
async function fanOut({ port, pairs, senders, devices, window, qos, seconds }) {
  const [{ sender, receiver }] = pairs;
  const open = (person) => MqttSocket.open({ port, clientId: randomUUID(), token: person.token });
  const publishers = await Promise.all(Array.from({ length: senders }, () => open(sender)));
  const subscribers = await Promise.all(Array.from({ length: devices }, () => open(receiver)));
  await Promise.all(subscribers.map((socket) => socket.subscribe(topicOf(receiver), qos)));

  let [delivered, published, outstanding, running] = [0, 0, 0, true];
  const [before, after] = messageAround(sender, receiver);
  // Publishers wait for deliveries, or the fastest acknowledgement would only fill queues.
  const publish = () => {
    published += 1;
    outstanding += devices;
    const publisher = publishers[published % senders];
    publisher.publish((published % 65_535) + 1, topicOf(receiver), `${before}${randomUUID()}${after}`);
  };
  for (const socket of subscribers) {
    socket.onMessage = () => {
      delivered += 1;
      outstanding -= 1;
      if (running && outstanding <= (senders * window - 1) * devices) publish();
    };
  }
  for (let count = 0; count < senders * window; count += 1) publish();
  const [perSecond] = await countFor(seconds, () => [delivered]);
  running = false;
  await settle(() => delivered);
  for (const socket of [...publishers, ...subscribers]) socket.close();
  return { perSecond, count: delivered, lost: published * devices - delivered };
}

/** Opens connections, each subscribed to its person's messages, and holds them. */
async function connections({ port, people, count, atOnce }) {
  let opened = 0;
  const startedAt = performance.now();
  const open = async () => {
    while (opened < count) {
      const person = people[opened % people.length];
      opened += 1;
      const socket = await MqttSocket.open({
        port,
        clientId: randomUUID(),
        token: person.token,
        keepAlive: 600,
      });
      await socket.subscribe(topicOf(person), 1);
      held.push(socket);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, open));
  return { perSecond: count / ((performance.now() - startedAt) / 1000) };
}

async function hangUp() {
  for (const socket of held) socket.close();
  held = [];
  return {};
}

/** Processor time of this generator. By how much it rises a second says how near it is to being what is measured. */
function ownCpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** By how much counters rise a second, once the server has warmed up. */
async function countFor(seconds, counters) {
  await delay(warmUpMs);
  const [before, startedAt] = [counters(), performance.now()];
  await delay(seconds * 1000);
  const elapsed = (performance.now() - startedAt) / 1000;
  return counters().map((count, index) => (count - before[index]) / elapsed);
}

/** Waits until a counter has stood still for a while. */
async function settle(counter) {
  for (let last = -1; last !== counter(); ) {
    last = counter();
    await delay(400);
  }
}
