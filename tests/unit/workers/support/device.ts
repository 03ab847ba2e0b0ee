import type {
  CommitSubmission,
  ConversationState,
  CryptoApi,
  MessageView,
  MovedOn,
  OperationKind,
  RotatedVault,
  SealedState,
} from '#workers/api/cryptoApi.ts';
import { CryptoApiError } from '#workers/api/errors.ts';
import { Browser, Clock } from './browser.ts';
import { MemoryRelay, StaleEpoch } from './relay.ts';

export const PASSWORD = 'correct horse battery staple';

/** The page of one tab: uses the api as the services do, but without waiting. */
export class TestDevice {
  readonly relay: MemoryRelay;
  readonly browser: Browser;
  readonly userId: string;
  deviceId: string;
  api: CryptoApi;

  constructor(relay: MemoryRelay, browser: Browser, userId: string, deviceId: string, api: CryptoApi) {
    this.relay = relay;
    this.browser = browser;
    this.userId = userId;
    this.deviceId = deviceId;
    this.api = api;
  }

  /** Signs up, or logs in on a new browser when the person has a vault. */
  static async create(relay: MemoryRelay, browser: Browser, userId: string): Promise<TestDevice> {
    const api = browser.tab();
    const { passwordParams } = await api.beginSignUp(PASSWORD);
    let vault = relay.vaults.get(userId);
    if (vault === undefined) {
      vault = { ...(await api.createVault(userId)), version: 1 };
      relay.vaults.set(userId, vault);
      relay.passwordParams.set(userId, passwordParams);
    } else {
      await api.beginLogin(PASSWORD, relay.passwordParams.get(userId) ?? passwordParams);
    }
    await api.openVault(userId, vault);
    const { deviceId } = await api.openDevice();
    relay.publish(userId, deviceId, await api.createKeyPackages(3, true, 0xf04d));
    await api.forgetVault();
    const device = new TestDevice(relay, browser, userId, deviceId, api);
    await device.readState();
    return device;
  }

  /** Opens another tab of the same browser, which is also a reload. */
  async openTab(): Promise<TestDevice> {
    const api = this.browser.tab();
    if (!(await api.resume(this.userId))) throw new Error('the session is gone');
    const { deviceId } = await api.openDevice();
    return new TestDevice(this.relay, this.browser, this.userId, deviceId, api);
  }

  /**
   * Confirms an operation by the password, as the person does in the frame.
   * @param id of the device or the person that it is done to
   */
  async confirm(kind: OperationKind, id: string | null = null) {
    this.browser.typist.knows(PASSWORD);
    return this.api.confirm({ kind, target: 'alice', id }, this.owner());
  }

  /** Facts that the page says of the account whose password is asked for. */
  owner() {
    const passwordParams = this.relay.passwordParams.get(this.userId);
    if (passwordParams === undefined) throw new Error('nobody has signed up');
    return { username: 'alice', passwordParams };
  }

  /** The vault that the relay has. */
  vault(): RotatedVault {
    const vault = this.relay.vaults.get(this.userId);
    if (vault === undefined) throw new Error('nobody has signed up');
    return vault;
  }

  /** The account state that the relay has. */
  state(): SealedState | null {
    return this.relay.states.get(this.userId) ?? null;
  }

  /** Takes over what the person's devices have told each other, and seals it anew where that is due. */
  async readState(): Promise<void> {
    const due = await this.api.adoptState(
      this.state(),
      (await this.api.vaultVersion()) >= this.vault().version,
    );
    if (due === null) return;
    this.relay.states.set(this.userId, due);
    await this.api.adoptState(due);
  }

  /** Marks somebody as verified, or takes the mark away. @returns the account state from then on */
  async mark(userId: string, verified: boolean): Promise<SealedState> {
    const { current: safetyNumber } = await this.api.safetyNumbers(userId);
    await this.confirm(verified ? 'mark-verified' : 'unmark-verified', userId);
    const state = await this.api.sealVerified(this.state(), { userId, safetyNumber, verified });
    this.relay.states.set(this.userId, state);
    await this.api.adoptState(state);
    return state;
  }

  /** Revokes a device of the person, which renews the keys. @returns the revocation */
  async revoke(deviceId: string): Promise<string> {
    await this.confirm('revoke-device', deviceId);
    const { statement, vault } = await this.api.revokeDevice({ vault: this.vault(), deviceId });
    this.relay.rotate(this.userId, vault);
    await this.api.adoptRenewedKeys(vault.sealedVault);
    return statement;
  }

  /** Has the worker make all that the relay is given when the person moves on after a theft. */
  async prepareToMoveOn(newPassword: string): Promise<MovedOn> {
    this.browser.typist.knows(PASSWORD, newPassword);
    await this.api.confirm({ kind: 'move-on', target: 'alice', id: null }, this.owner());
    const own = this.relay.devices.filter(({ userId }) => userId === this.userId);
    const deviceIds = own.map(({ deviceId }) => deviceId);
    return this.api.moveOn({ vault: this.vault(), deviceIds });
  }

  /** Moves on after a theft, at the relay too, and registers this browser's new device. */
  async moveOn(newPassword: string): Promise<MovedOn> {
    const body = await this.prepareToMoveOn(newPassword);
    this.relay.moveOn(this.userId, newPassword, body);
    await this.api.adoptRenewedKeys(body.vault.sealedVault);
    await this.registerAnew();
    return body;
  }

  /** Registers the device that this browser has become. */
  async registerAnew(): Promise<void> {
    this.deviceId = (await this.api.openDevice()).deviceId;
    this.relay.publish(this.userId, this.deviceId, await this.api.createKeyPackages(3, true, 0xf04d));
    await this.readState();
  }

  /** Gives the person's other devices the newest keys in their own group. @returns false where that is not due */
  async shareKeys(): Promise<boolean> {
    if (!(await this.api.shareKeys())) return false;
    for (const { messageId } of await this.api.outbox(selfOf(this.userId))) await this.flush(messageId);
    return true;
  }

  /** Logs in again in a browser that was locked, or whose session has lasted. */
  async logIn(): Promise<void> {
    this.api = this.browser.tab();
    const password = this.relay.passwords.get(this.userId) ?? PASSWORD;
    await this.api.beginLogin(password, this.owner().passwordParams);
    await this.api.openVault(this.userId, this.vault());
    await this.readState();
  }

  async start(conversationId: string): Promise<void> {
    const people = conversationId.split(':').slice(1);
    const keyPackages = this.relay.claim(people, this.deviceId);
    const submission = await this.api.startConversation({ conversationId, keyPackages });
    try {
      this.relay.submit(this, submission);
    } catch (error) {
      if (!(error instanceof StaleEpoch)) throw error;
    }
    await this.sync();
  }

  /** Creates a group with this person's own devices, and then adds the others. */
  async createGroup(conversationId: string, name: string, others: readonly string[] = []): Promise<void> {
    this.relay.createGroup(conversationId, this.userId);
    const keyPackages = this.relay.claim([this.userId], this.deviceId);
    const group = { name };
    this.relay.submit(this, await this.api.startConversation({ conversationId, keyPackages, group }));
    await this.syncOne(conversationId);
    if (others.length > 0) await this.add(conversationId, others);
  }

  /** Adds people with all their devices. */
  async add(conversationId: string, userIds: readonly string[]): Promise<void> {
    const keyPackages = this.relay.claim(userIds, '');
    for (let attempt = 0; attempt < 5; attempt++) {
      const submission =
        (await this.api.nextCommit(conversationId)) ??
        (await this.api.addMembers({ conversationId, keyPackages }));
      const taken = this.submit(submission);
      await this.syncOne(conversationId);
      if (taken && submission.welcomes.length > 0) return;
    }
    throw new Error('nobody was added');
  }

  /** Leaves a group with all devices of this person. */
  async leave(conversationId: string): Promise<string> {
    const statement = await this.leaveStatement(conversationId);
    this.relay.leave(conversationId, this.userId, statement);
    await this.api.forgetConversation(conversationId);
    return statement;
  }

  async leaveStatement(conversationId: string): Promise<string> {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        return await this.api.leaveStatement(conversationId);
      } catch (error) {
        if (!(error instanceof CryptoApiError && error.code === 'pending')) throw error;
      }
      const submission = await this.api.nextCommit(conversationId);
      if (submission !== null) this.submit(submission);
      await this.syncOne(conversationId);
    }
    throw new Error('no leave statement');
  }

  /** Submits a commit; false if it came too late. */
  submit(submission: CommitSubmission): boolean {
    try {
      this.relay.submit(this, submission);
      return true;
    } catch (error) {
      if (error instanceof StaleEpoch) return false;
      throw error;
    }
  }

  /** Takes in a group's name and leave statements from the relay. */
  async refreshGroup(conversationId: string): Promise<void> {
    const group = this.relay.groups.get(conversationId);
    if (group === undefined) return;
    if (group.name !== null) await this.api.setGroupName({ conversationId, ...group.name });
    await this.api.setLeaveStatements(conversationId, this.relay.leaveStatements(conversationId));
  }

  /** Processes all that the relay has for this device. @returns the messages that are new here */
  async sync(): Promise<MessageView[]> {
    const views: MessageView[] = [];
    for (const id of this.relay.conversationsOf(this.userId)) views.push(...(await this.syncOne(id)));
    return views;
  }

  async syncOne(conversationId: string): Promise<MessageView[]> {
    const mailbox = this.relay.mailbox(this.deviceId);
    const views: MessageView[] = [];
    for (let round = 0; round < 5; round++) {
      for (const item of mailbox.filter((welcome) => welcome.conversationId === conversationId)) {
        await this.api.joinByWelcome({ ...item, tree: this.relay.tree(conversationId, item.treeHash) });
        mailbox.splice(mailbox.indexOf(item), 1);
      }
      await this.link(conversationId);
      const { lastSeq } = await this.api.conversation(conversationId);
      const entries = this.relay.entries(conversationId, lastSeq);
      const { messages, state } = await this.api.processEntries(conversationId, entries);
      views.push(...messages);
      if (state.status === 'joined') await this.refreshGroup(conversationId);
      await this.link(conversationId);
      if (state.status === 'joined' || this.relay.log(conversationId).epoch === 0) return views;
      if (mailbox.some((welcome) => welcome.conversationId === conversationId)) continue;
      if (state.status !== 'starting') await this.joinByExternalCommit(conversationId);
    }
    return views;
  }

  /** Takes the running hash on from the member who let this device in. */
  async link(conversationId: string): Promise<void> {
    const { linkFrom } = await this.api.conversation(conversationId);
    if (linkFrom === null) return;
    await this.api.linkLog(conversationId, this.relay.digests(conversationId, linkFrom));
  }

  async joinByExternalCommit(conversationId: string): Promise<void> {
    const { epoch, groupInfo, treeHash } = this.relay.log(conversationId);
    const tree = this.relay.tree(conversationId, treeHash);
    const submission = await this.api.joinByExternalCommit({ conversationId, epoch, groupInfo, tree });
    this.submit(submission);
  }

  /** Writes a message and brings it into the log. */
  async send(conversationId: string, text: string, sentAt?: string): Promise<string> {
    const messageId = await this.queue(conversationId, text, this.relay.uuid(), sentAt);
    await this.flush(messageId);
    return messageId;
  }

  async queue(
    conversationId: string,
    text: string,
    messageId = this.relay.uuid(),
    sentAt = '2026-03-01T10:00:00.000Z',
  ): Promise<string> {
    await this.api.queueMessage({ conversationId, messageId, text, sentAt });
    return messageId;
  }

  async flush(messageId: string): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const prepared = await this.api.prepareMessage(messageId);
      if (prepared.kind === 'sent') return;
      if (prepared.kind === 'outside') {
        const { conversationId } = await this.waiting(messageId);
        await this.sync();
        const { status } = await this.api.conversation(conversationId);
        if (status === 'outside') await this.start(conversationId);
        continue;
      }
      try {
        if (prepared.kind === 'message') {
          const { seq, timestamp } = this.relay.send(this, prepared);
          await this.api.messageAccepted(messageId, { seq, timestamp });
          return;
        }
        if (prepared.kind === 'commit') this.relay.submit(this, prepared.submission);
      } catch (error) {
        if (!(error instanceof StaleEpoch)) throw error;
      }
      await this.sync();
    }
    throw new Error('the message found no way');
  }

  async waiting(messageId: string): Promise<MessageView> {
    const view = (await this.api.outbox()).find((message) => message.messageId === messageId);
    if (view === undefined) throw new Error('not in the outbox');
    return view;
  }

  /** Lists all messages of a conversation in this browser's message cache. */
  async history(conversationId: string): Promise<MessageView[]> {
    return this.api.messages(conversationId, { limit: 1000 });
  }
}

/** Returns the text of a message, or the reason for which there is none. */
export function textOf({ content }: MessageView): string {
  if (content.kind === 'text') return content.text;
  return content.kind === 'undecryptable' ? `(${content.reason})` : `(${content.kind})`;
}

/** Returns the people in a conversation, as far as this device knows. */
export const people = ({ members }: ConversationState) => members.map(({ userId }) => userId).sort();

export const ALICE = 'a0000000-0000-4000-8000-000000000001';
export const BOB = 'b0000000-0000-4000-8000-000000000002';
export const CAROL = 'c0000000-0000-4000-8000-000000000003';
export const DAVE = 'd0000000-0000-4000-8000-000000000004';
/** The conversation of a person's own devices. */
export const selfOf = (userId: string) => `self:${userId}`;

export const ALICE_AND_BOB = `direct:${ALICE}:${BOB}`;

export const DAY = 24 * 60 * 60 * 1000;

export interface World {
  readonly clock: Clock;
  readonly relay: MemoryRelay;
  readonly device: (userId: string) => Promise<TestDevice>;
}

export function createWorld(seed = 'world'): World {
  const clock = new Clock();
  const relay = new MemoryRelay(clock);
  let count = 0;
  return {
    clock,
    relay,
    device: (userId) => TestDevice.create(relay, new Browser(`${seed}/${count++}`, clock), userId),
  };
}

export const GROUP = 'group:99999999-0000-4000-8000-000000000009';

/** Creates Alice's group with Bob and Carol, who have a device each. */
export async function createTrio(seed?: string) {
  const world = createWorld(seed);
  const alice = await world.device(ALICE);
  const bob = await world.device(BOB);
  const carol = await world.device(CAROL);
  await alice.createGroup(GROUP, 'Skerry', [BOB, CAROL]);
  await bob.sync();
  await carol.sync();
  return { world, alice, bob, carol, relay: world.relay };
}

/** Creates Alice and Bob with a device each, both in the conversation. */
export async function createPair(seed?: string) {
  const world = createWorld(seed);
  const alice = await world.device(ALICE);
  const bob = await world.device(BOB);
  await alice.start(ALICE_AND_BOB);
  await bob.sync();
  return { world, alice, bob, relay: world.relay };
}
