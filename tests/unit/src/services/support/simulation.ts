import type { CryptoApi, LogEntryInput, MessageView } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { ApiError } from '#src/net/errors.ts';
import { conversationId, me, refused, state } from './deps.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
/** The fields that a submission of a direct conversation leaves empty. */
const noGroup = { sealedName: null, addedIds: [], removedIds: [] };

interface Welcome {
  readonly id: string;
  readonly conversationId: string;
  readonly epoch: number;
  readonly seq: number;
  readonly welcome: string;
}

/** The relay's part of one direct conversation: it numbers entries and compares epochs, and knows nothing else. */
export class SimulatedRelay {
  readonly log: (LogEntryInput & { conversationId: string })[] = [];
  readonly welcomes = new Map<string, Welcome[]>();
  readonly calls: string[] = [];
  epoch = 0;
  readSeq = 0;
  mostPerPage = 200;
  mostWelcomes = 100;
  /** Runs before a call is answered, and may refuse it. */
  before: (call: string) => void | Promise<void> = () => undefined;

  append(
    kind: 'application' | 'commit',
    content: string,
    sender: string,
    id = `e${this.log.length + 1}`,
  ): LogEntryInput {
    const seq = this.log.length + 1;
    const entry = {
      id,
      seq,
      epoch: this.epoch,
      kind,
      sender_id: sender,
      sender_device_id: `${sender}-device`,
      content,
      timestamp: new Date(start + seq * 1000).toISOString(),
    };
    this.log.push({ ...entry, conversationId });
    if (kind === 'commit') this.epoch += 1;
    return entry;
  }

  /** Somebody else's conversation up to here: a commit and so many messages. */
  begin(sender: string, messages: number): void {
    this.append('commit', `start by ${sender}`, sender);
    for (let index = 1; index <= messages; index += 1) this.append('application', `text ${index}`, sender);
  }

  welcome(deviceId: string, seq: number): void {
    const item = { id: `w${seq}`, conversationId, epoch: seq, seq, welcome: `welcome to ${deviceId}` };
    this.welcomes.set(deviceId, [...(this.welcomes.get(deviceId) ?? []), item]);
  }

  /** The calls that one device of one person makes. */
  apiFor(userId: string, deviceId: string): Partial<Api> {
    const call = async (name: string): Promise<void> => {
      this.calls.push(name);
      await this.before(name);
    };
    const wire = (entry: LogEntryInput & { conversationId: string }) => ({
      ...entry,
      receiver_id: null,
      group_id: null,
      created_at: entry.timestamp,
      delivered: false,
      is_read: false,
    });
    return {
      getHistory: async () => [],
      listConversations: async () => {
        await call('listConversations');
        const { epoch, log, readSeq } = this;
        return log.length === 0
          ? []
          : [{ conversationId, epoch, lastSeq: log.length, readSeq, peerReadSeq: null }];
      },
      listUserMessages: async (_peer, { after, before, limit }) => {
        await call(
          `listUserMessages ${after === undefined ? `before ${before ?? 'the end'}` : `after ${after}`}`,
        );
        if (after !== undefined)
          return this.log
            .filter(({ seq }) => seq > after)
            .slice(0, Math.min(limit, this.mostPerPage))
            .map(wire);
        return this.log
          .filter(({ seq }) => seq < (before ?? Number.POSITIVE_INFINITY))
          .slice(-limit)
          .map(wire);
      },
      submitCommit: async (_id, { epoch, commit }) => {
        await call('submitCommit');
        if (epoch !== this.epoch)
          throw new ApiError({ status: 409, code: 'stale-epoch', detail: null, epoch: this.epoch });
        const { id, seq, timestamp } = this.append('commit', commit, userId);
        return { id, seq, epoch, timestamp };
      },
      sendUserMessage: async (_peer, { messageId, epoch, content }) => {
        await call('sendUserMessage');
        const known = this.log.find(({ id }) => id === messageId);
        if (known !== undefined) return known;
        if (epoch !== this.epoch)
          throw new ApiError({ status: 409, code: 'stale-epoch', detail: null, epoch: this.epoch });
        return this.append('application', content, userId, messageId);
      },
      listDigests: async () => [],
      getGroupInfo: async () => {
        await call('getGroupInfo');
        if (this.log.length === 0) throw refused('not-found');
        return { epoch: this.epoch, groupInfo: `group ${this.epoch}` };
      },
      listWelcomes: async () => {
        await call('listWelcomes');
        return (this.welcomes.get(deviceId) ?? []).slice(0, this.mostWelcomes);
      },
      deleteWelcome: async (id) => {
        await call('deleteWelcome');
        const left = (this.welcomes.get(deviceId) ?? []).filter((item) => item.id !== id);
        this.welcomes.set(deviceId, left);
        return undefined;
      },
      claimKeyPackages: async (ids) => {
        await call(`claimKeyPackages ${ids.map((id) => (id === userId ? 'own' : 'peer')).join(' ')}`);
        return ids
          .filter((id) => id !== userId)
          .map((id) => ({ userId: id, deviceId: 'peer-device', keyPackage: 'a2V5', lastResort: false }));
      },
    };
  }
}

type Pending = {
  readonly kind: 'start' | 'external' | 'heal';
  readonly epoch: number;
  readonly commit: string;
};

/** The worker's part of the same conversation: positions and epochs as in the real one, without the cryptography. */
export class SimulatedDevice {
  membership: 'none' | 'member' | 'forked' = 'none';
  epoch = 0;
  lastSeq = 0;
  joinedSeq = 0;
  readSeq = 0;
  /** The part of `readSeq` that was read here. */
  readHere = 0;
  pending: Pending | null = null;
  /** True if the next message needs a healing commit first. */
  healNext = false;
  /** Commits that this device refuses, as a forged one would be. */
  readonly refuses = new Set<string>();
  readonly messages: MessageView[] = [];
  readonly localEntries = new Map<string, string>();
  readonly waiting = new Map<string, MessageView>();
  #commits = 0;

  state() {
    const status =
      this.membership === 'member'
        ? ('joined' as const)
        : this.membership === 'forked'
          ? ('forked' as const)
          : this.pending?.kind === 'start'
            ? ('starting' as const)
            : ('outside' as const);
    const { epoch, joinedSeq, lastSeq, readHere, readSeq } = this;
    const lastMessage = [...this.messages, ...this.waiting.values()].at(-1) ?? null;
    return state({ status, epoch, joinedSeq, lastSeq, readHere, readSeq, lastMessage });
  }

  api(): Partial<CryptoApi> {
    return {
      conversation: async () => this.state(),
      conversations: async () => [this.state()],
      events: async () => [],
      memberNames: async () => [],
      joinByWelcome: async ({ epoch, seq, welcome }) => {
        if (welcome.includes('stranger'))
          throw Object.assign(new Error('missing-key'), { code: 'missing-key' });
        Object.assign(this, { membership: 'member', epoch, lastSeq: seq, joinedSeq: seq, pending: null });
        return this.state();
      },
      joinByExternalCommit: async ({ epoch }) => this.#submission('external', epoch),
      keyPackageSuites: async () => [0xf04d, 0x004d],
      usableKeyPackages: async (all) => [...all],
      startConversation: async () => this.#submission('start', 0),
      processEntries: async (_id, entries) => ({
        messages: this.#process(entries),
        events: [],
        state: this.state(),
      }),
      messages: async (_id, { before, limit }) =>
        this.messages.filter(({ seq }) => (seq ?? 0) < (before ?? Number.POSITIVE_INFINITY)).slice(-limit),
      setReadPosition: async (_id, where, seq) => {
        this.readSeq = Math.max(this.readSeq, seq);
        if (where === 'here') this.readHere = Math.max(this.readHere, seq);
        return this.state();
      },
      queueMessage: async ({ messageId, sentAt, text }) => {
        const waits = [...this.waiting.values()].some(({ status }) => status === 'sending');
        const isNext = !waits && this.membership === 'member' && this.pending === null && !this.healNext;
        const message = this.#keep(messageId, { timestamp: sentAt, text });
        const { epoch } = this;
        return {
          message,
          ready: isNext
            ? { kind: 'message', conversationId, messageId, epoch, content: text, start: 'start' }
            : null,
          state: this.state(),
        };
      },
      prepareMessage: async (messageId) => {
        const message = this.waiting.get(messageId);
        if (message === undefined) {
          const logged = this.messages.find((one) => one.messageId === messageId);
          if (logged === undefined)
            throw Object.assign(new Error('unknown-message'), { code: 'unknown-message' });
          return { kind: 'sent', message: logged };
        }
        if (this.membership !== 'member') {
          if (this.pending?.kind === 'external') return { kind: 'wait' };
          return this.pending === null
            ? { kind: 'outside' }
            : { kind: 'commit', submission: this.#asSubmission(this.pending) };
        }
        if (this.healNext || this.pending !== null) {
          this.healNext = false;
          return { kind: 'commit', submission: this.#submission('heal', this.epoch) };
        }
        const text = message.content.kind === 'text' ? message.content.text : '';
        return {
          kind: 'message',
          conversationId,
          messageId,
          epoch: this.epoch,
          content: text,
          start: 'start',
        };
      },
      messageAccepted: async (messageId, { seq, timestamp }) =>
        this.#settle(messageId, { status: 'sent', seq, timestamp }),
      messageFailed: async (messageId, failure) => this.#settle(messageId, { status: 'failed', failure }),
      discardMessage: async (messageId) => (this.waiting.delete(messageId) ? this.state() : null),
      outbox: async () => [...this.waiting.values()],
      // Copies of messages have tests of their own.
      backupState: async () => ({ kept: true, position: 0 }),
      starredMessages: async () => [],
      expireMessages: async () => ({ gone: [], nextIn: null }),
      backupSetting: async () => null,
      conversationsToBackUp: async () => [],
      nextBackupEntries: async () => null,
      localEntries: async (prefix = '') =>
        [...this.localEntries].flatMap(([name, text]) => (name.startsWith(prefix) ? [{ name, text }] : [])),
      writeLocal: async (name, text) => {
        if (text === null) this.localEntries.delete(name);
        else this.localEntries.set(name, text);
      },
    };
  }

  #keep(messageId: string, { text, timestamp }: { text: string; timestamp: string }): MessageView {
    const message: MessageView = {
      conversationId,
      messageId,
      seq: null,
      senderId: me,
      senderDeviceId: 'own-device',
      timestamp,
      status: 'sending',
      content: { kind: 'text', text },
    };
    this.waiting.set(messageId, message);
    return message;
  }

  #settle(messageId: string, change: Partial<MessageView>): MessageView {
    const logged = this.messages.find((message) => message.messageId === messageId);
    if (logged !== undefined) return logged;
    const waiting = this.waiting.get(messageId);
    if (waiting === undefined) throw Object.assign(new Error('unknown-message'), { code: 'unknown-message' });
    const settled = { ...waiting, ...change };
    this.waiting.set(messageId, settled);
    return settled;
  }

  #submission(kind: Pending['kind'], epoch: number) {
    if (this.pending === null || this.pending.kind !== kind || this.pending.epoch !== epoch) {
      this.#commits += 1;
      this.pending = { kind, epoch, commit: `own ${kind} ${this.#commits}` };
    }
    return this.#asSubmission(this.pending);
  }

  #asSubmission({ commit, epoch }: Pending) {
    return {
      conversationId,
      epoch,
      commit,
      welcomes: [],
      groupInfo: 'group',
      signature: 'signed',
      tree: null,
      ...noGroup,
    };
  }

  #process(entries: readonly LogEntryInput[]): MessageView[] {
    const views: MessageView[] = [];
    if (entries.some(({ seq }, index) => seq <= (entries[index - 1]?.seq ?? 0))) {
      throw Object.assign(new Error('out of order'), { code: 'usage' });
    }
    const fresh = entries.filter(({ seq }) => seq > this.lastSeq);
    const outside = this.membership === 'none' && this.pending?.kind !== 'start';
    const own = fresh.findIndex(({ content }) => content === this.pending?.commit);
    if (outside && own < 0) return views;
    const first = outside ? fresh[0]?.seq : this.lastSeq + 1;
    if (fresh.some(({ seq }, index) => seq !== (first ?? 0) + index)) {
      throw Object.assign(new Error('gap'), { code: 'gap' });
    }
    for (const entry of outside ? fresh.slice(own) : fresh) {
      if (entry.kind === 'application') views.push(this.#message(entry));
      else if (!this.#commit(entry)) return views;
      this.lastSeq = entry.seq;
    }
    return views;
  }

  #message({ content, id, sender_id, seq, timestamp }: LogEntryInput): MessageView {
    this.waiting.delete(id);
    const own = sender_id === me;
    const view: MessageView = {
      conversationId,
      messageId: id,
      seq,
      senderId: sender_id,
      senderDeviceId: 'device',
      timestamp,
      status: own ? 'sent' : 'received',
      content: { kind: 'text', text: content },
    };
    this.messages.push(view);
    return view;
  }

  #commit({ content, epoch, seq }: LogEntryInput): boolean {
    if (content === this.pending?.commit) {
      if (this.membership === 'none') this.joinedSeq = this.pending.kind === 'start' ? 0 : seq;
      this.membership = 'member';
    } else if (this.membership === 'none') {
      this.pending = null;
      return false;
    } else if (this.refuses.has(content)) {
      this.membership = 'forked';
    }
    this.pending = null;
    this.epoch = epoch + 1;
    return true;
  }
}
