import { randomUUID } from 'node:crypto';
import { directConversationId, type LogEntry } from '../../contract/index.ts';
import { signedCommit, signedReceipt } from '../devices.ts';
import { base64Url, befriend, type PersonOnDevice, signUpOnDevice } from '../helpers.ts';
import { MqttClient } from './mqttClient.ts';
import { callUntilAnswered } from './relayCall.ts';

/** The positions that the relay has acknowledged, by the id of the entry. */
type Acknowledged = Map<string, number>;

interface Member {
  readonly person: PersonOnDevice;
  readonly mqtt: MqttClient;
  /** The position up to which its device has acknowledged the log, whether or not the relay has said that it knows. */
  received: number;
}

/** Entries that a device acknowledges late, so that there are always some that the relay has to keep. */
const unreceived = 3;

/**
 * Two people who write to each other without a pause: one over MQTT, one over HTTP, who now and then ends the epoch as
 * well. Both devices acknowledge what they have received, for the relay to delete it. Both keep what they write until it is acknowledged, listen over MQTT, and fetch from the log what they missed.
 */
export class Chat {
  readonly #relay: { readonly url: string };
  readonly #random: () => number;
  readonly #conversationId: string;
  readonly #left: Member;
  readonly #right: Member;
  readonly #acknowledged: Acknowledged = new Map();
  /** The content of each message, by its id. */
  readonly #contents = new Map<string, string>();
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
      received: 0,
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

  /** Writes nothing new. Resolves when all that was written is acknowledged, and most of it received. */
  async finishWriting(): Promise<void> {
    this.#isWriting = false;
    await this.#writing;
    const last = Math.max(...this.#acknowledged.values());
    for (const member of [this.#left, this.#right]) await this.#receive(member, last - unreceived);
  }

  close(): Promise<unknown> {
    return Promise.all([this.#left.mqtt.close(), this.#right.mqtt.close()]);
  }

  /** The positions of the log, and how many of them the relay has emptied; bytes of content that it keeps. */
  async sizes(): Promise<{ readonly entries: number; readonly emptied: number; readonly bytes: number }> {
    const log = await this.#log();
    const contents = log.map(({ content }) => Buffer.from(content, 'base64url').length);
    return {
      entries: log.length,
      emptied: contents.filter((bytes) => bytes === 0).length,
      bytes: contents.reduce((sum, bytes) => sum + bytes, 0),
    };
  }

  /**
   * The faults of the relay's log: none, if everything acknowledged by now is in it exactly once and where
   * the acknowledgement said, its positions have neither gaps nor duplicates, and the content of each is as it was sent, or
   * deleted after both devices had acknowledged it.
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
      ...log.flatMap((entry) => this.#contentProblems(entry)),
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

  #contentProblems({ content, expired, id, seq }: LogEntry): string[] {
    const sent = this.#contents.get(id);
    if (content !== '') return sent === undefined || sent === content ? [] : [`position ${seq} was changed`];
    const received = Math.min(this.#left.received, this.#right.received);
    if (seq > received) return [`position ${seq} was deleted, and received up to ${received}`];
    return expired === true ? [] : [`position ${seq} is empty, and not said to have expired`];
  }

  /** Has a device acknowledge the log up to a position. */
  async #receive(member: Member, position: number): Promise<void> {
    if (position <= member.received) return;
    member.received = position;
    const { person } = member;
    const receipt = { epoch: 1, position, sealed: base64Url(93) };
    const answer = await callUntilAnswered(
      this.#relay,
      {
        method: 'PUT',
        path: `/conversations/${this.#conversationId}/receipt`,
        token: person.token,
        body: signedReceipt(person, this.#conversationId, receipt),
      },
      this.#random,
    );
    if (answer.status !== 204) throw new Error(`the receipt was refused: ${JSON.stringify(answer.body)}`);
  }

  async #writeByMqtt(): Promise<void> {
    const { person, mqtt } = this.#left;
    const recipient = this.#right.person;
    while (this.#isWriting) {
      const messageId = randomUUID();
      const content = base64Url(200);
      this.#contents.set(messageId, content);
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
      this.#contents.set(messageId, content);
      for (;;) {
        const body = { messageId, epoch: this.#epoch, content };
        const answer = await callUntilAnswered<{ seq: number; epoch: number; code?: string }>(
          this.#relay,
          { method: 'POST', path, token, body },
          this.#random,
        );
        if (answer.status === 201) {
          this.#acknowledged.set(messageId, answer.body.seq);
          await this.#receive(this.#left, answer.body.seq - unreceived);
          await this.#receive(this.#right, answer.body.seq);
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
