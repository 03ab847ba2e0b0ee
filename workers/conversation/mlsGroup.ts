import { endGroup, type Group, groupView, loadGroup, reloadSecretTree, wipe } from '@sinetti/crypto-core';
import { readableCertificate } from '../identity/certificates.ts';
import type { UnlockedAccount } from '../session/session.ts';
import type { MembersRecord } from '../storage/records.ts';

/**
 * A group that stays in memory between transactions, with the versions of the conversation record it was
 * saved with.
 */
export interface CachedGroup {
  readonly version: number;
  readonly epochVersion: number;
  readonly state: MlsGroup;
}

/** The groups in memory, by unlocked account and conversation. They are ended when the account is locked. */
const cachedGroups = new WeakMap<UnlockedAccount, Map<string, CachedGroup>>();

export function cacheGroup(account: UnlockedAccount, conversationId: string, group: CachedGroup): void {
  // A transaction may end after the account was locked.
  if (account.sealer.isWiped) return group.state.end();
  let groups = cachedGroups.get(account);
  if (groups === undefined) {
    const added = new Map<string, CachedGroup>();
    groups = added;
    cachedGroups.set(account, added);
    account.wipeWhenLocked.push(() => {
      for (const { state } of added.values()) state.end();
      added.clear();
    });
  }
  groups.set(conversationId, group);
}

/** Takes the group out of the cache, so that after any failure it is loaded again from storage. */
export function takeCachedGroup(account: UnlockedAccount, conversationId: string): CachedGroup | null {
  const groups = cachedGroups.get(account);
  const group = groups?.get(conversationId) ?? null;
  groups?.delete(conversationId);
  return group;
}

/** The ratchets that a transaction has to write and to delete. */
export interface RatchetChanges {
  readonly puts: ReadonlyMap<string, Uint8Array>;
  readonly deletes: ReadonlySet<string>;
}

/** Returns a stored ratchet, as bytes that the caller may keep and wipe. */
export type RatchetLookup = (key: string) => Uint8Array | undefined;

/**
 * A group with the bookkeeping that makes a transaction all or nothing: ratchets move in memory, and {@link
 * accept} or {@link revert} decides whether that move counts. Accepted moves are stored by the transaction;
 * if that fails, the whole group is dropped and loaded again.
 */
export class MlsGroup {
  #group: Group;
  readonly #stored: RatchetLookup;
  /** Accepted moves that {@link #stored} doesn't know of; null for a ratchet that is to be deleted. */
  readonly #moved = new Map<string, Uint8Array | null>();
  #unsaved = new Map<string, Uint8Array | null>();
  #members: MembersRecord | null = null;
  #devices: Set<string> | null = null;
  /** Another has the secrets of this epoch. */
  #isHandedOn = false;

  private constructor(group: Group, stored: RatchetLookup) {
    this.#group = group;
    this.#stored = stored;
  }

  /** Loads a stored group. */
  static load(epoch: Uint8Array, stored: RatchetLookup): MlsGroup {
    return new MlsGroup(loadGroup(epoch, stored), stored);
  }

  /** Wraps a group that was just created or joined, all of whose secret tree is still to be stored. */
  static fresh(group: Group): MlsGroup {
    const state = new MlsGroup(group, () => undefined);
    state.accept();
    return state;
  }

  /**
   * Restores a pending commit's group that took effect; as in {@link fresh}, all of it is still to be stored.
   */
  static restore(epoch: Uint8Array, ratchets: ReadonlyMap<string, Uint8Array>): MlsGroup {
    const state = new MlsGroup(
      loadGroup(epoch, (key) => ratchets.get(key)?.slice()),
      () => undefined,
    );
    for (const [key, value] of ratchets) state.#move(key, value);
    return state;
  }

  /** Loads the ratchets of the same epoch again, after another tab moved them; this one isn't used any more. */
  reload(stored: RatchetLookup): MlsGroup {
    this.#isHandedOn = true;
    return new MlsGroup(reloadSecretTree(this.#group, stored), stored);
  }

  /** Wipes the secrets of an epoch that is left: every use of the group fails afterwards. */
  end(): void {
    if (this.#isHandedOn) this.#group.secretTree.end();
    else endGroup(this.#group);
    for (const value of [...this.#moved.values(), ...this.#unsaved.values()]) if (value !== null) wipe(value);
  }

  get group(): Group {
    return this.#group;
  }

  get epoch(): number {
    return Number(this.#group.context.epoch);
  }

  /** Accepts the ratchet moves since the last call of accept or revert. */
  accept(): void {
    const { puts, deletes } = this.#group.secretTree.takeChanges();
    for (const [key, value] of puts) this.#move(key, value);
    for (const key of deletes) this.#move(key, null);
  }

  /**
   * Undoes the moves: a message that decrypts but breaks a rule must not use up the key of the one it
   * imitates.
   */
  revert(): void {
    const { secretTree } = this.#group;
    this.#group = reloadSecretTree(this.#group, (key) => {
      const moved = this.#moved.get(key);
      return moved === undefined ? this.#stored(key) : moved?.slice();
    });
    secretTree.end();
  }

  /** Returns the accepted changes since the last call, for the transaction to write. */
  takeUnsaved(): RatchetChanges {
    const puts = new Map<string, Uint8Array>();
    const deletes = new Set<string>();
    for (const [key, value] of this.#unsaved) {
      if (value === null) deletes.add(key);
      else puts.set(key, value);
    }
    this.#unsaved = new Map();
    return { puts, deletes };
  }

  /** Returns the devices in the tree, by person. */
  members(): MembersRecord {
    if (this.#members === null) {
      const devicesOf = new Map<string, string[]>();
      for (const { credential } of groupView(this.#group).members) {
        const certificate = readableCertificate(credential);
        if (certificate === null) continue;
        const { userId, deviceId } = certificate;
        const devices = devicesOf.get(userId);
        if (devices === undefined) devicesOf.set(userId, [deviceId]);
        else devices.push(deviceId);
      }
      this.#members = [...devicesOf].map(([userId, deviceIds]) => ({ userId, deviceIds }));
    }
    return this.#members;
  }

  hasPerson(userId: string): boolean {
    return this.members().some((person) => person.userId === userId);
  }

  hasDevice(userId: string, deviceId: string): boolean {
    this.#devices ??= new Set(
      this.members().flatMap((person) => person.deviceIds.map((device) => `${person.userId}/${device}`)),
    );
    return this.#devices.has(`${userId}/${deviceId}`);
  }

  #move(key: string, value: Uint8Array | null): void {
    this.#moved.set(key, value);
    this.#unsaved.set(key, value);
  }
}
