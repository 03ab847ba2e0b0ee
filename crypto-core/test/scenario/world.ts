/** A small world to play conversations in: devices, their stores, and checks that they all agree. */
import { isDeepStrictEqual } from 'node:util';
import { GROUP_BINDING_EXTENSION } from '../../src/account/index.ts';
import { fromUtf8, utf8 } from '../../src/bytes.ts';
import {
  type CipherSuiteId,
  type CommitPolicy,
  type CreateCommitArgs,
  type CreatedCommit,
  type Credential,
  createCommit,
  createGroup,
  createKeyPackage,
  createSignatureKeyPair,
  decryptApplication,
  type Env,
  encryptApplication,
  exportGroupInfo,
  type Group,
  groupView,
  joinByWelcome,
  joinExternal,
  type KeyPackageBundle,
  type LeafOptions,
  loadGroup,
  type MemberCheck,
  processCommit,
  type SignatureKeyPair,
  saveEpoch,
  toHex,
} from '../../src/index.ts';

export const SUITES: readonly CipherSuiteId[] = [0x0003, 0xf04d];

export const anyone: MemberCheck = () => undefined;
export const anything: CommitPolicy = () => undefined;

export interface Device {
  readonly name: string;
  readonly credential: Credential;
  readonly signatureKey: SignatureKeyPair;
  readonly leaf: LeafOptions;
}

/** Devices of these tests know the binding of groups. */
const bound: LeafOptions = { capabilities: { extensions: [GROUP_BINDING_EXTENSION] } };

export function device(name: string, env: Env, leaf = bound): Device {
  return {
    name,
    credential: { type: 'basic', identity: utf8(name) },
    signatureKey: createSignatureKeyPair(env),
    leaf,
  };
}

export function keyPackageOf(owner: Device, suite: CipherSuiteId, env: Env): KeyPackageBundle {
  const now = BigInt(Math.floor(env.now() / 1000));
  return createKeyPackage(
    {
      suite,
      credential: owner.credential,
      signatureKey: owner.signatureKey,
      leaf: owner.leaf,
      lifetime: { notBefore: now - 3600n, notAfter: now + 86_400n * 90n },
    },
    env,
  );
}

/** The records of one group on one device, as a database would hold them. */
export class Store {
  epochRecord: Uint8Array = new Uint8Array(0);
  readonly records = new Map<string, Uint8Array>();

  saveEpoch(group: Group): void {
    this.epochRecord = saveEpoch(group);
    this.records.clear();
    this.saveStep(group);
  }

  /** Saves a state that changed within its epoch. The secret tree's records from before stay. */
  saveSameEpoch(group: Group): void {
    this.epochRecord = saveEpoch(group);
    this.saveStep(group);
  }

  /** Saves the changes of the secret tree. @returns bytes written */
  saveStep(group: Group): number {
    const { puts, deletes } = group.secretTree.takeChanges();
    for (const key of deletes) this.records.delete(key);
    for (const [key, bytes] of puts) this.records.set(key, bytes);
    return puts.reduce((sum, [, bytes]) => sum + bytes.length, 0);
  }

  load(): Group {
    return loadGroup(this.epochRecord, (key) => this.records.get(key));
  }
}

/** A device in the conversation. Its state goes through its store around every single step. */
export class Participant {
  readonly device: Device;
  readonly store = new Store();

  constructor(owner: Device, group: Group) {
    this.device = owner;
    this.store.saveEpoch(group);
  }

  get group(): Group {
    return this.store.load();
  }

  send(text: string, env: Env): Uint8Array {
    const { group } = this;
    const message = encryptApplication(group, utf8(text), utf8('aad'), env);
    this.store.saveStep(group);
    return message;
  }

  receive(message: Uint8Array): string {
    const { group } = this;
    const { plaintext } = decryptApplication(group, message);
    this.store.saveStep(group);
    return fromUtf8(plaintext);
  }

  commit(args: Omit<CreateCommitArgs, 'memberCheck' | 'policy'>, env: Env): CreatedCommit {
    const { group } = this;
    const created = createCommit(group, { ...args, memberCheck: anyone, policy: anything }, env);
    this.store.saveStep(group);
    return created;
  }

  process(commit: Uint8Array) {
    const result = processCommit(this.group, commit, { memberCheck: anyone, policy: anything });
    this.store.saveEpoch(result.group);
    return result;
  }
}

export class Conversation {
  readonly suite: CipherSuiteId;
  readonly env: Env;
  participants: Participant[];
  #texts = 0;

  constructor(suite: CipherSuiteId, env: Env, leaf?: LeafOptions) {
    this.suite = suite;
    this.env = env;
    const creator = device('device 0', env, leaf);
    const group = createGroup({ suite, groupId: utf8('group'), ...creator }, env);
    this.participants = [new Participant(creator, group)];
  }

  at(index: number): Participant {
    const participant = this.participants[index];
    if (participant === undefined) throw new Error(`no participant ${index}`);
    return participant;
  }

  /** Merges a pending commit of `by` and lets everybody else process it. Those it removes leave. */
  accept(by: Participant, created: { pending: Group; commit: Uint8Array }): void {
    by.store.saveEpoch(created.pending);
    const removed = this.participants.filter(
      (other) => other !== by && other.process(created.commit).selfRemoved,
    );
    this.participants = this.participants.filter((other) => !removed.includes(other));
  }

  add(by: Participant, newcomers: readonly Device[], removes: readonly Participant[] = []): void {
    const bundles = newcomers.map((newcomer) => keyPackageOf(newcomer, this.suite, this.env));
    const created = by.commit(
      { adds: bundles.map(({ bytes }) => bytes), removes: removes.map(({ group }) => group.ownLeaf) },
      this.env,
    );
    this.accept(by, created);
    for (const [index, newcomer] of newcomers.entries()) {
      const bundle = bundles[index];
      if (created.welcome === null || bundle === undefined) throw new Error('no welcome');
      const group = joinByWelcome(created.welcome, bundle, newcomer.signatureKey, { memberCheck: anyone });
      this.participants.push(new Participant(newcomer, group));
    }
  }

  remove(by: Participant, gone: readonly Participant[]): void {
    this.accept(by, by.commit({ removes: gone.map(({ group }) => group.ownLeaf) }, this.env));
  }

  update(by: Participant): void {
    this.accept(by, by.commit({}, this.env));
  }

  /** Lets a device join by external commit, from the group info of the first participant. */
  joinFromOutside(newcomer: Device): void {
    const info = exportGroupInfo(this.at(0).group);
    const join = joinExternal(info, { ...newcomer, memberCheck: anyone }, this.env);
    for (const participant of this.participants) participant.process(join.commit);
    this.participants.push(new Participant(newcomer, join.pending));
  }

  /** Lets a member that lost its state join again from outside, in place of its old leaf. */
  comeBack(lost: Participant): void {
    this.participants = this.participants.filter((participant) => participant !== lost);
    const info = exportGroupInfo(this.at(0).group);
    const join = joinExternal(info, { ...lost.device, memberCheck: anyone, resync: true }, this.env);
    for (const participant of this.participants) participant.process(join.commit);
    this.participants.push(new Participant(lost.device, join.pending));
  }

  /**
   * Checks that everybody has the same view of the same epoch, and that every message of `senders` reaches everybody
   * else.
   * @returns a line for each thing that is wrong
   */
  disagreements(senders: readonly Participant[] = this.participants): string[] {
    const found: string[] = [];
    const views = this.participants.map(({ group }) => {
      const { ownLeaf: _, ...view } = groupView(group);
      return view;
    });
    for (const [index, view] of views.entries()) {
      if (!isDeepStrictEqual(view, views[0])) found.push(`view of ${this.at(index).device.name}`);
    }
    const names = this.participants.map((participant) => participant.device.name);
    const members = views[0]?.members.map(({ credential }) =>
      credential.type === 'basic' ? fromUtf8(credential.identity) : '',
    );
    if (!isDeepStrictEqual(members?.sort(), names.sort())) found.push(`members ${members?.join()}`);
    for (const sender of senders) {
      const text = `text ${this.#texts++} of ${sender.device.name}`;
      const message = sender.send(text, this.env);
      for (const other of this.participants) {
        if (other !== sender && other.receive(message) !== text) found.push(`text at ${other.device.name}`);
      }
    }
    return found;
  }
}

/** Makes a group of so many, whose first member has given every node above it a key. */
export function groupOf(count: number, suite: CipherSuiteId, env: Env): Conversation {
  const conversation = new Conversation(suite, env);
  const newcomers = Array.from({ length: count - 1 }, (_, index) => device(`device ${index + 1}`, env));
  conversation.add(conversation.at(0), newcomers);
  conversation.update(conversation.at(0));
  return conversation;
}

export function authenticatorOf(participant: Participant): string {
  return toHex(groupView(participant.group).epochAuthenticator);
}
