/**
 * Who may be in a conversation: the rules that every client applies to every commit, whatever the relay says, and the
 * pins by which it knows a person's devices (PROTOCOL sections 3, 4 and 6).
 */
import {
  checkDeviceCredential,
  type CommitPolicy,
  CryptoError,
  type Credential,
  type MemberCheck,
  readDeviceCertificate,
} from '@sinetti/crypto-core';
import { CryptoApiError } from './errors.ts';
import { certificateOf } from './groupState.ts';
import type { Device, Person } from './session.ts';
import type { WriteTransaction } from './vault/db.ts';
import { PinRecord } from './vault/records.ts';

const encoder = new TextEncoder();

/** The MLS group id is the conversation id, so that neither can be passed off as another's. */
export function groupIdOf(conversationId: string): Uint8Array {
  return encoder.encode(conversationId);
}

/**
 * The two people of a direct conversation, this one among them.
 * @throws CryptoApiError `unsupported` for a group, `usage` for other people's conversation or an id not in order
 */
export function participantsOf(conversationId: string, ownUserId: string): readonly [string, string] {
  const [kind, lower, higher] = conversationId.split(':');
  if (kind !== 'direct' || lower === undefined || higher === undefined) {
    throw new CryptoApiError('unsupported', 'only direct conversations');
  }
  if (lower >= higher) throw new CryptoApiError('usage', 'the ids of a direct conversation are in order');
  if (lower !== ownUserId && higher !== ownUserId) {
    throw new CryptoApiError('usage', "other people's conversation");
  }
  return [lower, higher];
}

/** The checks of one step in one direct conversation, and what they learn. */
export class Membership {
  readonly memberCheck: MemberCheck;
  readonly policy: CommitPolicy;
  readonly #participants: readonly string[];
  readonly #pins: Map<string, Uint8Array>;
  readonly #seenFirst = new Map<string, Uint8Array>();
  #changedIdentity = false;

  private constructor(participants: readonly string[], pins: Map<string, Uint8Array>) {
    this.#participants = participants;
    this.#pins = pins;
    this.memberCheck = (leaf, { replaces }) => this.#checkMember(leaf, replaces);
    this.policy = (commit) => this.#checkCommit(commit);
  }

  /** Reads the pins that the conversation's people have. One's own is the key that certified this device. */
  static async load(
    tx: WriteTransaction,
    person: Person & { readonly device: Device },
    conversationId: string,
  ): Promise<Membership> {
    const participants = participantsOf(conversationId, person.userId);
    const pins = new Map([[person.userId, person.device.accountKey]]);
    for (const userId of participants) {
      const sealed = userId === person.userId ? undefined : await tx.objectStore('pins').get(userId);
      if (sealed !== undefined)
        pins.set(userId, person.sealer.open('pins', userId, sealed, PinRecord).accountKey);
    }
    return new Membership(participants, pins);
  }

  /** Runs what checks members; a refusal for another account key than the pinned one says so by its code. */
  run<T>(body: () => T): T {
    this.#changedIdentity = false;
    const known = new Set(this.#pins.keys());
    try {
      return body();
    } catch (error) {
      // What a refused message claimed is no first sight.
      for (const userId of this.#seenFirst.keys()) {
        if (known.has(userId)) continue;
        this.#pins.delete(userId);
        this.#seenFirst.delete(userId);
      }
      if (this.#changedIdentity) throw new CryptoApiError('identity-changed');
      throw error;
    }
  }

  /** Pins the account keys that were seen for the first time. */
  async savePins(tx: WriteTransaction, person: Person, now: number): Promise<void> {
    for (const [userId, accountKey] of this.#seenFirst) {
      const record: PinRecord = { accountKey, firstSeen: now };
      await tx.objectStore('pins').put(person.sealer.seal('pins', userId, record), userId);
    }
  }

  #checkMember(
    leaf: { readonly credential: Credential; readonly signatureKey: Uint8Array },
    replaces: Credential | null,
  ): void {
    if (leaf.credential.type !== 'basic') throw new CryptoError('invalid-credential', 'not a certificate');
    const { identity } = leaf.credential;
    const certificate = checkDeviceCredential({ identity, signatureKey: leaf.signatureKey }, (userId) =>
      this.#accountKeyOf(userId, readDeviceCertificate(identity).accountKey),
    );
    if (!this.#participants.includes(certificate.userId)) {
      throw new CryptoError('policy', 'a device of neither participant');
    }
    if (replaces !== null && !isSameDevice(certificateOf(replaces), certificate)) {
      throw new CryptoError('invalid-credential', 'the credential of another device');
    }
  }

  #accountKeyOf(userId: string, claimed: Uint8Array): Uint8Array {
    // A stranger is refused by the rules, whatever the key.
    if (!this.#participants.includes(userId)) return claimed;
    const pinned = this.#pins.get(userId);
    if (pinned === undefined) {
      this.#pins.set(userId, claimed);
      this.#seenFirst.set(userId, claimed);
      return claimed;
    }
    if (!equal(pinned, claimed)) this.#changedIdentity = true;
    return pinned;
  }

  #checkCommit(commit: Parameters<CommitPolicy>[0]): void {
    const sender = certificateOf(commit.senderCredential);
    const added = commit.external ? [commit.senderCredential, ...commit.adds] : commit.adds;
    for (const credential of added) {
      if (!this.#participants.includes(certificateOf(credential).userId)) {
        throw new CryptoError('policy', 'adds a device of neither participant');
      }
    }
    if (commit.external && commit.adds.length > 0) {
      throw new CryptoError('policy', 'an external commit that adds others');
    }
    for (const { credential } of commit.removes) {
      const removed = certificateOf(credential);
      const own = commit.external ? isSameDevice(removed, sender) : removed.userId === sender.userId;
      if (!own) throw new CryptoError('policy', 'removes a device that is not its own');
    }
    // Nobody sends either in a direct conversation, so whatever they are for, it isn't this.
    if (commit.changesExtensions) throw new CryptoError('policy', 'changes the extensions');
    if (commit.updates.length > 0) throw new CryptoError('policy', "commits another's update");
  }
}

interface DeviceName {
  readonly userId: string;
  readonly deviceId: string;
}

function isSameDevice(a: DeviceName, b: DeviceName): boolean {
  return a.userId === b.userId && a.deviceId === b.deviceId;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
