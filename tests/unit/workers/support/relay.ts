import { missingTree, parseTreeNodes, placeNode, ratchetTree } from '#relay/src/messaging/treeNodes.ts';
import { inHex } from '#relay/src/messaging/trees.ts';
import type { TreeNode } from '#relay/src/repositories/trees.ts';
import type {
  CommitSubmission,
  LogEntryInput,
  MovedOn,
  PasswordParams,
  RotatedVault,
  SealedState,
} from '#workers/api/cryptoApi.ts';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { digestOf } from '#workers/conversation/logChain.ts';
import { type Clock, seededRandom } from './browser.ts';

interface Welcome {
  readonly id: string;
  readonly conversationId: string;
  readonly epoch: number;
  readonly seq: number;
  readonly welcome: string;
  readonly treeHash?: string;
}

interface Log {
  epoch: number;
  groupInfo: string;
  /** The tree that the GroupInfo names; null where it is inside. */
  treeHash: string | null;
  readonly treeNodes: Map<string, TreeNode>;
  readonly entries: LogEntryInput[];
}

interface PublishedDevice {
  readonly userId: string;
  readonly deviceId: string;
  readonly keyPackages: string[];
  lastResort: string | null;
}

/** The relay's row of a group. */
interface GroupRow {
  readonly creatorId: string;
  readonly members: Set<string>;
  /** The statements of people who left and whose leaves no commit has removed yet, by user id. */
  readonly leaveStatements: Map<string, string>;
  name: { sealedName: string; epoch: number } | null;
}

export class StaleEpoch extends Error {}
export class NotAMember extends Error {}

/** An account state in one piece, as the relay has it. */
export const wholeState = (sealed: Uint8Array): SealedState => ({
  sealed: toBase64Url(sealed),
  segments: [],
});

/**
 * A relay in memory that does all the worker needs: it numbers entries, compares epochs and keeps mailboxes.
 */
export class MemoryRelay {
  readonly devices: PublishedDevice[] = [];
  /** With their versions. */
  readonly vaults = new Map<string, RotatedVault>();
  /** Account states, by user id. */
  readonly states = new Map<string, SealedState>();
  /** Passwords that were changed, which no real relay has. */
  readonly passwords = new Map<string, string>();
  readonly passwordParams = new Map<string, PasswordParams>();
  readonly #logs = new Map<string, Log>();
  readonly groups = new Map<string, GroupRow>();
  readonly #mailboxes = new Map<string, Welcome[]>();
  readonly #random = seededRandom('relay');
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Stores a vault in the place of the one that it replaces. @returns it with its version */
  rotate(userId: string, vault: RotatedVault): RotatedVault {
    if (this.vaults.get(userId)?.version !== vault.version) throw new Error('a stale vault');
    const stored = { ...vault, version: vault.version + 1 };
    this.vaults.set(userId, stored);
    return stored;
  }

  /** Takes a new account key, and forgets the devices that are revoked with it. */
  moveOn(userId: string, password: string, { passwordParams, vault }: MovedOn): void {
    this.rotate(userId, vault);
    this.passwords.set(userId, password);
    this.passwordParams.set(userId, passwordParams);
    const others = this.devices.filter((device) => device.userId !== userId);
    this.devices.splice(0, Number.POSITIVE_INFINITY, ...others);
  }

  publish(
    userId: string,
    deviceId: string,
    packages: { keyPackages: string[]; lastResort: string | null },
  ): void {
    const device = this.devices.find((known) => known.deviceId === deviceId);
    if (device === undefined) this.devices.push({ userId, deviceId, ...packages });
    else device.keyPackages.push(...packages.keyPackages);
  }

  /** Claims one KeyPackage of every device of these people but `except`. */
  claim(userIds: readonly string[], except: string) {
    return this.devices
      .filter(({ userId, deviceId }) => userIds.includes(userId) && deviceId !== except)
      .map(({ userId, deviceId, keyPackages, lastResort }) => {
        const keyPackage = keyPackages.shift() ?? lastResort;
        if (keyPackage === null) throw new Error('out of key packages');
        return { userId, deviceId, keyPackage };
      });
  }

  conversationsOf(userId: string): string[] {
    return [...this.#logs.keys()].filter((id) => this.isIn(id, userId));
  }

  isIn(conversationId: string, userId: string): boolean {
    const group = this.groups.get(conversationId);
    return group === undefined ? conversationId.includes(userId) : group.members.has(userId);
  }

  /**
   * Refuses people who aren't members of a group. In a direct conversation this relay leaves the check to the
   * clients.
   */
  #admit(conversationId: string, userId: string): void {
    if (this.groups.has(conversationId) && !this.isIn(conversationId, userId)) throw new NotAMember();
  }

  createGroup(conversationId: string, creatorId: string): void {
    const members = new Set([creatorId]);
    this.groups.set(conversationId, { creatorId, members, leaveStatements: new Map(), name: null });
    this.log(conversationId);
  }

  group(conversationId: string): GroupRow {
    const group = this.groups.get(conversationId);
    if (group === undefined) throw new Error('no such group');
    return group;
  }

  leave(conversationId: string, userId: string, statement: string | null): void {
    const { members, leaveStatements } = this.group(conversationId);
    members.delete(userId);
    if (statement !== null) leaveStatements.set(userId, statement);
    const theirs = this.devices.filter((device) => device.userId === userId);
    for (const { deviceId } of theirs) {
      const kept = this.mailbox(deviceId).filter((item) => item.conversationId !== conversationId);
      this.mailbox(deviceId).splice(0, Number.POSITIVE_INFINITY, ...kept);
    }
  }

  leaveStatements(conversationId: string): { userId: string; statement: string }[] {
    return [...this.group(conversationId).leaveStatements].map(([userId, statement]) => ({
      userId,
      statement,
    }));
  }

  log(conversationId: string): Log {
    const log = this.#logs.get(conversationId) ?? {
      epoch: 0,
      groupInfo: '',
      treeHash: null,
      treeNodes: new Map(),
      entries: [],
    };
    this.#logs.set(conversationId, log);
    return log;
  }

  /** Lets go of a conversation, as if it had never begun. */
  forget(conversationId: string): void {
    this.#logs.delete(conversationId);
    for (const [deviceId, mailbox] of this.#mailboxes) {
      const kept = mailbox.filter((item) => item.conversationId !== conversationId);
      this.#mailboxes.set(deviceId, kept);
    }
  }

  entries(conversationId: string, after = 0): LogEntryInput[] {
    return this.log(conversationId).entries.filter(({ seq }) => seq > after);
  }

  digests(conversationId: string, after: number): { seq: number; digest: string }[] {
    return this.entries(conversationId, after).map((entry) => ({
      seq: entry.seq,
      digest: toBase64Url(digestOf(conversationId, entry)),
    }));
  }

  submit(sender: { userId: string; deviceId: string }, submission: CommitSubmission): LogEntryInput {
    const log = this.log(submission.conversationId);
    this.#admit(submission.conversationId, sender.userId);
    for (const part of submission.tree?.parts ?? []) this.putTreeNodes(submission.conversationId, part);
    if (submission.epoch !== log.epoch) throw new StaleEpoch();
    const treeHash = submission.tree?.hash ?? null;
    if (treeHash !== null && !log.treeNodes.has(inHex(treeHash))) throw missingTree();
    const entry = this.append(sender, submission.conversationId, {
      kind: 'commit',
      epoch: log.epoch,
      content: submission.commit,
    });
    log.epoch++;
    log.groupInfo = submission.groupInfo;
    log.treeHash = treeHash;
    this.#changeGroup(submission, log.epoch);
    for (const { deviceIds, welcome } of submission.welcomes) {
      for (const deviceId of deviceIds) {
        this.mailbox(deviceId).push({
          id: this.uuid(),
          conversationId: submission.conversationId,
          epoch: log.epoch,
          seq: entry.seq,
          welcome,
          ...(treeHash === null ? {} : { treeHash }),
        });
      }
    }
    return entry;
  }

  /** Takes nodes of a tree. @throws ApiError of the relay's where their children are not there */
  putTreeNodes(conversationId: string, part: string): void {
    const { treeNodes } = this.log(conversationId);
    for (const parsed of parseTreeNodes(Buffer.from(part, 'base64url')) ?? []) {
      const node = placeNode(parsed, treeNodes);
      treeNodes.set(node.hash, node);
    }
  }

  /** The tree below a root, as base64url; null where some of it is missing. */
  tree(conversationId: string, treeHash: string | null | undefined): string | null {
    if (treeHash === null || treeHash === undefined) return null;
    return ratchetTree(inHex(treeHash), this.log(conversationId).treeNodes)?.toString('base64url') ?? null;
  }

  /** Appends an application message; idempotent by its id. */
  send(
    sender: { userId: string; deviceId: string },
    message: { conversationId: string; messageId: string; epoch: number; content: string },
  ): LogEntryInput {
    const log = this.log(message.conversationId);
    const existing = log.entries.find(({ id }) => id === message.messageId);
    if (existing !== undefined) return existing;
    this.#admit(message.conversationId, sender.userId);
    if (message.epoch !== log.epoch) throw new StaleEpoch();
    const { conversationId, messageId: id, epoch, content } = message;
    return this.append(sender, conversationId, { id, kind: 'application', epoch, content });
  }

  /** Appends any entry, as a hostile relay may. */
  append(
    sender: { userId: string; deviceId: string },
    conversationId: string,
    entry: Partial<LogEntryInput> & Pick<LogEntryInput, 'kind' | 'epoch' | 'content'>,
  ): LogEntryInput {
    const { entries } = this.log(conversationId);
    const stored: LogEntryInput = {
      id: this.uuid(),
      seq: entries.length + 1,
      sender_id: sender.userId,
      sender_device_id: sender.deviceId,
      timestamp: new Date(this.#clock.now()).toISOString(),
      ...entry,
    };
    entries.push(stored);
    return stored;
  }

  mailbox(deviceId: string): Welcome[] {
    const mailbox = this.#mailboxes.get(deviceId) ?? [];
    this.#mailboxes.set(deviceId, mailbox);
    return mailbox;
  }

  #changeGroup({ conversationId, sealedName, addedIds, removedIds }: CommitSubmission, epoch: number): void {
    const group = this.groups.get(conversationId);
    if (group === undefined) return;
    if (sealedName !== null) group.name = { sealedName, epoch };
    for (const userId of addedIds) {
      group.members.add(userId);
      group.leaveStatements.delete(userId);
    }
    for (const userId of removedIds) group.leaveStatements.delete(userId);
  }

  uuid(): string {
    const hex = Buffer.from(this.#random(16)).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
