/**
 * The membership policy of a conversation: the rules that every client applies to every commit, whatever the
 * relay says, and the pins by which it knows a person's devices (PROTOCOL sections 3, 4 and 6).
 */
import {
  type CommitPolicy,
  type Credential,
  CryptoError,
  equalBytes,
  type JoinPolicy,
  type MemberCheck,
} from '@sinetti/crypto-core';
import {
  checkDeviceCredential,
  type DeviceRevocation,
  readDeviceCertificate,
} from '@sinetti/crypto-core/account';
import { certificateOf, isOfFormerKey } from '../identity/certificates.ts';
import { IdentityChanged, newPin, putPin, readMarksRecord } from '../identity/pins.ts';
import { isOfLeaf, putRevocation, revocationsOf } from '../identity/revocations.ts';
import type { Device, UnlockedAccount } from '../session/session.ts';
import type { WriteTransaction } from '../storage/db.ts';
import { type GroupRecord, MembersRecord, PinRecord } from '../storage/records.ts';
import { parseConversationId, selfConversationId } from './conversationId.ts';
import { readRemoved } from './removedDevices.ts';
import { directRules } from './rules/directRules.ts';
import { type GroupRules, groupRules } from './rules/groupRules.ts';
import { isSameDevice, type JoinMethod, type Rules } from './rules/rules.ts';
import { type SelfRules, selfRules } from './rules/selfRules.ts';

/** Returns the account key pinned for a person, if there is one. */
type PinLookup = (userId: string) => Uint8Array | undefined;

/** Pins, in one of which another account key may be tried. */
class Pins {
  /** Stands in the place of its person's pinned key. */
  tried: IdentityChanged | null = null;
  readonly #pinned: PinLookup;

  constructor(pinned: PinLookup) {
    this.#pinned = pinned;
  }

  of(userId: string): Uint8Array | undefined {
    return this.tried?.userId === userId ? this.tried.accountKey : this.#pinned(userId);
  }
}

/** The checks of one conversation transaction, and the results that they gather. */
export class MembershipPolicy {
  readonly memberCheck: MemberCheck;
  /**
   * The check of members for a join, which lets devices of the person's own through that a former account key has
   * certified: this device removes them before it sends anything.
   */
  readonly joinCheck: MemberCheck;
  /**
   * The check of members for an external join. A group's creator rejoins even a tree with leaves that break
   * the rules, since only their devices can remove these. Such leaves are in {@link distrustedKeys} then.
   */
  readonly rejoinCheck: MemberCheck;
  /** Signature keys of the leaves that {@link rejoinCheck} let through. */
  readonly distrustedKeys: Uint8Array[] = [];
  readonly policy: CommitPolicy;
  /** People whose adding the rules refused in this transaction. */
  readonly unauthorizedAdds: ReadonlySet<string>;
  /** Returns whether a device of the group's creator signed the tree that was joined in this transaction. */
  readonly isVouchedFor: () => boolean;
  /** Own devices that their group has taken out. */
  readonly removedIds: Set<string>;
  readonly #statedRevocations: SelfRules['statedRevocations'];
  readonly #rules: Rules;
  readonly #pins: Pins;
  readonly #seenFirst = new Map<string, Uint8Array>();
  #changed: IdentityChanged | null = null;
  /** Signature key of the device that has signed the tree which was joined in this transaction. */
  #joinSigner: Uint8Array | null = null;

  private constructor(
    rules: Rules,
    gathered: Partial<GroupRules & SelfRules>,
    pins: Pins,
    isCreator: boolean,
    ownRevocations: readonly DeviceRevocation[],
    isFormer: (credential: Credential) => boolean = () => false,
  ) {
    this.#rules = rules;
    this.#statedRevocations = gathered.statedRevocations ?? [];
    this.#pins = pins;
    this.removedIds = gathered.removedIds ?? new Set();
    this.unauthorizedAdds = gathered.unauthorizedAdds ?? new Set();
    this.isVouchedFor = () => gathered.isVouchedFor?.() === true && !this.#isDistrusted(this.#joinSigner);
    this.memberCheck = (leaf, { replaces, now }) => this.#checkMember(leaf, replaces, now);
    this.joinCheck = (leaf, context) => {
      const isRevoked = ownRevocations.some((revocation) => isOfLeaf(revocation, leaf.credential));
      if (!isRevoked && !isFormer(leaf.credential)) this.memberCheck(leaf, context);
    };
    this.rejoinCheck = isCreator ? (leaf, context) => this.#distrust(leaf, context) : this.joinCheck;
    this.policy = rules.checkCommit;
  }

  /**
   * Reads the pins that the conversation's people may have. The person's own is the key that certified this
   * device.
   */
  static async load(
    tx: WriteTransaction,
    account: UnlockedAccount & { readonly device: Device },
    conversationId: string,
    known: GroupRecord | null,
  ): Promise<MembershipPolicy> {
    const conversation = parseConversationId(conversationId, account.userId);
    const ownRevocations = await revocationsOf(tx, account, account.userId);
    if (conversation.kind === 'direct') {
      const pins = new Pins(await readPins(tx, account, conversation.participants));
      const rules = directRules(conversation.participants, (userId) => pins.of(userId), {
        userId: account.userId,
        areElsewhere: ownRevocations.length === 0 && (await knowsOwnDevice(tx, account)),
      });
      return new MembershipPolicy(rules, {}, pins, false, ownRevocations);
    }
    if (conversation.kind === 'self') {
      const { userId, device } = account;
      // A former account key says nothing of the devices that the present one has certified.
      const revokedIds = new Set(
        ownRevocations
          .filter(({ accountKey }) => equalBytes(accountKey, device.accountKey))
          .map(({ deviceId }) => deviceId),
      );
      const removedIds = new Set(await readRemoved(tx, account));
      const rules = selfRules({ userId, accountKey: device.accountKey, revokedIds, removedIds });
      const pins = new Pins(await readPins(tx, account, []));
      return new MembershipPolicy(rules, rules, pins, false, ownRevocations);
    }
    const rules = groupRules({ userId: account.userId, deviceId: account.device.deviceId }, known);
    const isCreator = known?.creatorId === account.userId;
    const pins = new Pins(await readPins(tx, account, null));
    // One that was not in the relay's list when this person moved on is revoked by nobody: it is taken out all the same.
    const isFormer = (credential: Credential) => isOfFormerKey(account, credential);
    return new MembershipPolicy(rules, rules, pins, isCreator, ownRevocations, isFormer);
  }

  joinPolicy(method: JoinMethod): JoinPolicy {
    return (join) => {
      this.#rules.checkJoin(join, method);
      this.#joinSigner = join.signer.signatureKey;
    };
  }

  /**
   * Runs `body`, which checks members.
   * @throws IdentityChanged in place of its error when an account key isn't the pinned one
   */
  run<T>(body: () => T): T {
    this.#changed = null;
    const known = new Set(this.#seenFirst.keys());
    try {
      return body();
    } catch (error) {
      // Account keys that a refused message claimed must not be pinned.
      for (const userId of this.#seenFirst.keys()) if (!known.has(userId)) this.#seenFirst.delete(userId);
      throw this.#changed ?? error;
    }
  }

  /**
   * Returns whether nothing but a changed account key is wrong with what `body` checks: with that key in the place of the
   * pinned one it runs.
   */
  passesWith(changed: IdentityChanged, body: () => unknown): boolean {
    this.#pins.tried = changed;
    try {
      this.run(body);
      return true;
    } catch (error) {
      if (error instanceof CryptoError || error instanceof IdentityChanged) return false;
      throw error;
    } finally {
      this.#pins.tried = null;
    }
  }

  /** Pins the account keys that were seen for the first time, and keeps the revocations that own devices stated. */
  async savePins(tx: WriteTransaction, account: UnlockedAccount, now: number): Promise<void> {
    for (const { deviceId, statement } of this.#statedRevocations) {
      await putRevocation(tx, account, account.userId, deviceId, statement);
    }
    for (const [userId, accountKey] of this.#seenFirst) {
      await putPin(tx, account, userId, newPin(accountKey, now));
    }
  }

  #checkMember(
    leaf: { readonly credential: Credential; readonly signatureKey: Uint8Array },
    replaces: Credential | null,
    now: bigint | null,
  ): void {
    if (leaf.credential.type !== 'basic') throw new CryptoError('invalid-credential', 'not a certificate');
    const { identity } = leaf.credential;
    const certificate = checkDeviceCredential(
      { identity, signatureKey: leaf.signatureKey },
      (userId) => this.#accountKeyOf(userId, readDeviceCertificate(identity).accountKey),
      now,
    );
    if (!this.#rules.admits(certificate.userId)) {
      throw new CryptoError('policy', 'a device of nobody in it');
    }
    if (replaces !== null && !isSameDevice(certificateOf(replaces), certificate)) {
      throw new CryptoError('invalid-credential', 'the credential of another device');
    }
  }

  #distrust(leaf: Parameters<MemberCheck>[0], context: Parameters<MemberCheck>[1]): void {
    const changedBefore = this.#changed;
    try {
      this.memberCheck(leaf, context);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
      this.#changed = changedBefore;
      this.distrustedKeys.push(leaf.signatureKey.slice());
    }
  }

  #isDistrusted(signatureKey: Uint8Array | null): boolean {
    return signatureKey !== null && this.distrustedKeys.some((key) => equalBytes(key, signatureKey));
  }

  #accountKeyOf(userId: string, claimed: Uint8Array): Uint8Array {
    // The rules refuse a stranger whatever the key is.
    if (!this.#rules.admits(userId)) return claimed;
    const pinned = this.#pins.of(userId) ?? this.#seenFirst.get(userId);
    if (pinned === undefined) {
      this.#seenFirst.set(userId, claimed);
      return claimed;
    }
    if (!equalBytes(pinned, claimed)) this.#changed = new IdentityChanged(userId, claimed);
    return pinned;
  }
}

/** Returns whether this device knows of another one of its person's, by what the account key has certified and no relay can deny. */
async function knowsOwnDevice(
  tx: WriteTransaction,
  account: UnlockedAccount & { readonly device: Device },
): Promise<boolean> {
  const { deviceId } = account.device;
  const { signerId } = await readMarksRecord(tx, account);
  if (signerId !== null && signerId !== deviceId) return true;
  const own = selfConversationId(account.userId);
  const sealed = await tx.objectStore('members').get(own);
  const members = sealed === undefined ? [] : account.sealer.open('members', own, sealed, MembersRecord);
  return members.some(({ deviceIds }) => deviceIds.some((id) => id !== deviceId));
}

/**
 * Reads pins; each record is opened when it is first asked for.
 * @param people null for everybody
 */
async function readPins(
  tx: WriteTransaction,
  account: UnlockedAccount & { readonly device: Device },
  people: readonly string[] | null,
): Promise<PinLookup> {
  const store = tx.objectStore('pins');
  const [userIds, rows] =
    people === null
      ? await Promise.all([store.getAllKeys(), store.getAll()])
      : [people, await Promise.all(people.map((userId) => store.get(userId)))];
  const sealed = new Map(userIds.map((userId, i) => [userId, rows[i]]));
  const opened = new Map([[account.userId, account.device.accountKey]]);
  return (userId) => {
    const known = opened.get(userId);
    const row = sealed.get(userId);
    if (known !== undefined || row === undefined) return known;
    const { accountKey } = account.sealer.open('pins', userId, row, PinRecord);
    opened.set(userId, accountKey);
    return accountKey;
  };
}
