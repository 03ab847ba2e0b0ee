import { randomUUID } from 'node:crypto';
import { directConversationId, type LogEntry } from '../../contract/index.ts';
import { signedCommit } from '../devices.ts';
import { base64Url, befriend, type PersonOnDevice, signUpOnDevice } from '../helpers.ts';
import { MqttClient } from './mqttClient.ts';
import { callUntilAnswered } from './relayCall.ts';

/** The positions that the relay has acknowledged, by the id of the entry. */
type Acknowledged = Map<string, number>;

interface Member {
  readonly person: PersonOnDevice;
  readonly mqtt: MqttClient;
}

/**
 * Two people who write to each other without a pause: one over MQTT, one over HTTP, who now and then ends the epoch as
 * well. Both keep what they write until it is acknowledged, listen over MQTT, and fetch from the log what they missed.
 */
export class Chat {
  readonly #relay: { readonly url: string };
  readonly #random: () => number;
  readonly #conversationId: string;
  readonly #left: Member;
  readonly #right: Member;
  readonly #acknowledged: Acknowledged = new Map();
  #epoch = 1;
  #isWriting = true;
  readonly #writing: Promise<unknown>;

  private constructor(
    relay: { readonly url: string },
    random: () => number,
    left: PersonOnDevice,
    right: PersonOnDevice,
  ) {
    this.#relay = relay;
    this.#random = random;
    this.#conversationId = directConversationId(left.id, right.id);
    const member = (person: PersonOnDevice, other: PersonOnDevice): Member => ({
      person,
      mqtt: new MqttClient(relay, person, other, random),
    });
    this.#left = member(left, right);
    this.#right = member(right, left);
    this.#writing = Promise.all([this.#writeByMqtt(), this.#writeByMqtt(), this.#writeByHttp()]);
  }

  static async start(relay: { readonly url: string }, random: () => number): Promise<Chat> {
    const [left, right] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(left, right);
    const body = { epoch: 0, commit: base64Url(100), welcomes: [], groupInfo: base64Url(100) };
    await left.call('POST', `/conversations/${directConversationId(left.id, right.id)}/commits`, body);
    return new Chat(relay, random, left, right);
  }

  get acknowledgedCount(): number {
    return this.#acknowledged.size;
  }

  /** Writes nothing new. Resolves when all that was written is acknowledged. */
  async finishWriting(): Promise<void> {
    this.#isWriting = false;
    await this.#writing;
  }

  close(): Promise<unknown> {
    return Promise.all([this.#left.mqtt.close(), this.#right.mqtt.close()]);
  }

  /**
   * The faults of the relay's log: none, if everything acknowledged by now is in it exactly once and where
   * the acknowledgement said, and its positions have neither gaps nor duplicates.
   */
  async problems(): Promise<string[]> {
    const acknowledged = [...this.#acknowledged];
    const log = await this.#log();
    const seqs = log.map((entry) => entry.seq);
    const at = new Map(log.map((entry) => [entry.id, entry.seq]));
    return [
      ...seqs.flatMap((seq, index) => (seq === index + 1 ? [] : [`position ${index + 1} holds ${seq}`])),
      ...(at.size === log.length ? [] : [`${log.length - at.size} entries are there more than once`]),
      ...acknowledged.flatMap(([id, seq]) =>
        at.get(id) === seq ? [] : [`${id} was acknowledged at ${seq} and is at ${at.get(id)}`],
      ),
    ];
  }

  /**
   * The faults of the two clients' copies, once nothing is written any more: none, if both have the whole
   * log, and it holds every event that they got live.
   */
  async clientProblems(): Promise<string[]> {
    const log = await this.#log();
    const inLog = JSON.stringify(log.map((entry) => [entry.seq, entry.id]));
    const problems: string[] = [];
    for (const { mqtt } of [this.#left, this.#right]) {
      problems.push(...mqtt.contradictions);
      await mqtt.untilKnown(log.length);
      if (JSON.stringify(mqtt.known) !== inLog) problems.push('a client knows another log than the relay');
    }
    return problems;
  }

  async #writeByMqtt(): Promise<void> {
    const { person, mqtt } = this.#left;
    const recipient = this.#right.person;
    while (this.#isWriting) {
      const messageId = randomUUID();
      const content = base64Url(200);
      for (let seq: number | null = null; seq === null; ) {
        const outcome = await mqtt.publish({
          type: 'message',
          messageId,
          senderId: person.id,
          recipientId: recipient.id,
          epoch: this.#epoch,
          content,
          timestamp: new Date().toISOString(),
        });
        if (outcome.epoch !== undefined) this.#epoch = outcome.epoch;
        else seq = outcome.seq;
        if (seq !== null) this.#acknowledged.set(messageId, seq);
      }
    }
  }

  async #writeByHttp(): Promise<void> {
    const { token } = this.#right.person;
    const path = `/messages/user/${this.#left.person.id}`;
    while (this.#isWriting) {
      if (this.#random() < 0.1) await this.#commit();
      const messageId = randomUUID();
      const content = base64Url(200);
      for (;;) {
        const body = { messageId, epoch: this.#epoch, content };
        const answer = await callUntilAnswered<{ seq: number; epoch: number; code?: string }>(
          this.#relay,
          { method: 'POST', path, token, body },
          this.#random,
        );
        if (answer.status === 201) {
          this.#acknowledged.set(messageId, answer.body.seq);
          break;
        }
        if (answer.body.code !== 'stale-epoch') throw new Error(`refused: ${JSON.stringify(answer.body)}`);
        this.#epoch = answer.body.epoch;
      }
    }
  }

  /** A commit whose answer is lost is not repeated: the answer to the next one says whether it counts. */
  async #commit(): Promise<void> {
    const { deviceId, token } = this.#right.person;
    const path = `/conversations/${this.#conversationId}/commits`;
    const opaque = { epoch: this.#epoch, commit: base64Url(100), welcomes: [], groupInfo: base64Url(100) };
    const body = signedCommit(deviceId, this.#conversationId, opaque);
    const answer = await callUntilAnswered<{ id: string; seq: number; epoch: number; code?: string }>(
      this.#relay,
      { method: 'POST', path, token, body },
      this.#random,
    );
    if (answer.status === 201) this.#acknowledged.set(answer.body.id, answer.body.seq);
    else if (answer.body.code !== 'stale-epoch') throw new Error(`refused: ${JSON.stringify(answer.body)}`);
    this.#epoch = answer.status === 201 ? body.epoch + 1 : answer.body.epoch;
  }

  async #log(): Promise<LogEntry[]> {
    const { token } = this.#left.person;
    const entries: LogEntry[] = [];
    for (;;) {
      const after = entries.at(-1)?.seq ?? 0;
      const path = `/messages/user/${this.#right.person.id}?after=${after}&limit=200`;
      const page = await callUntilAnswered<LogEntry[]>(
        this.#relay,
        { method: 'GET', path, token },
        this.#random,
      );
      if (page.status !== 200) throw new Error(`the log answered ${page.status}`);
      if (page.body.length === 0) return entries;
      entries.push(...page.body);
    }
  }
}
