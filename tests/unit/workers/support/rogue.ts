import {
  type CreateCommitArgs,
  createCommit,
  createGroup,
  createKeyPackage,
  createSignatureKeyPair,
  decryptApplication,
  type Env,
  type Extension,
  encryptApplication,
  type Group,
  groupView,
  joinByWelcome,
  joinExternal,
  type KeyPackageBundle,
  leafRef,
  processCommit,
  ready,
} from '@sinetti/crypto-core';
import {
  deviceUnlockKey,
  issueDeviceCertificate,
  LEAF_REF_LABEL,
  type LeaveStatement,
  openRecord,
  openVault,
  signLeaveStatement,
  unwrapVaultKey,
  type Vault,
} from '@sinetti/crypto-core/account';
import { splitChainHeader } from '@sinetti/crypto-core/content';
import { fromBase64Url, toBase64Url } from '#workers/codec/base64url.ts';
import { leafOptions } from '#workers/identity/leafOptions.ts';
import { accountDatabaseName } from '#workers/storage/db.ts';
import { cheapPasswordKeys, seededRandom } from './browser.ts';
import { PASSWORD, type TestDevice } from './device.ts';
import type { MemoryRelay } from './relay.ts';
import { answer } from './storage.ts';

const anybody = { memberCheck: () => {}, policy: () => {} };

/** A device with valid keys that keeps none of the rules, as a modified client could. */
export class Rogue {
  readonly relay: MemoryRelay;
  readonly userId: string;
  readonly deviceId: string;
  bundle: KeyPackageBundle;
  readonly #env: Env;
  #signatureKey: ReturnType<typeof createSignatureKeyPair>;
  #certificate: Uint8Array;
  #group: Group | null = null;

  /**
   * Creates a device under an account key that is drawn from the text `account`, whether or not the person
   * has another one.
   */
  static async create(relay: MemoryRelay, userId: string, account: string): Promise<Rogue> {
    await ready();
    return new Rogue(relay, userId, seededRandom(account)(32));
  }

  /** Creates a device of a person who has signed up. */
  static async ofPerson(relay: MemoryRelay, userId: string): Promise<Rogue> {
    await ready();
    return new Rogue(relay, userId, openVaultOf(relay, userId).accountSeed);
  }

  /** Creates a device under an account seed that somebody has got hold of. */
  static async certifiedBy(relay: MemoryRelay, userId: string, accountSeed: Uint8Array): Promise<Rogue> {
    await ready();
    return new Rogue(relay, userId, accountSeed);
  }

  private constructor(relay: MemoryRelay, userId: string, accountSeed: Uint8Array) {
    this.relay = relay;
    this.userId = userId;
    this.deviceId = relay.uuid();
    this.#env = { random: seededRandom(this.deviceId), now: () => Date.UTC(2026, 2, 1) };
    this.#signatureKey = createSignatureKeyPair(this.#env);
    this.#certificate = issueDeviceCertificate(accountSeed, {
      userId,
      deviceId: this.deviceId,
      deviceKey: this.#signatureKey.publicKey,
      notBefore: 0n,
    });
    this.bundle = this.#createBundle();
  }

  /** Replaces the credential of the same keys, by default with a certificate whose signature is broken. */
  forgeCertificate(identity?: Uint8Array): void {
    this.#certificate =
      identity ?? this.#certificate.map((byte, at, all) => (at === all.length - 1 ? byte ^ 1 : byte));
    this.bundle = this.#createBundle();
  }

  /** Puts another signature key under the same certificate, as can be done by anybody who has seen that. */
  swapKey(): void {
    this.#signatureKey = createSignatureKeyPair(this.#env);
    this.bundle = this.#createBundle();
  }

  #createBundle(): KeyPackageBundle {
    const now = BigInt(this.#env.now() / 1000);
    return createKeyPackage(
      {
        suite: 0xf04d,
        credential: { type: 'basic', identity: this.#certificate },
        signatureKey: this.#signatureKey,
        leaf: leafOptions,
        lifetime: { notBefore: now - 86_400n, notAfter: now + 86_400n },
      },
      this.#env,
    );
  }

  publish(): void {
    const keyPackage = toBase64Url(this.bundle.bytes);
    this.relay.publish(this.userId, this.deviceId, { keyPackages: [], lastResort: keyPackage });
  }

  /** Its private half. */
  get signatureKey(): Uint8Array {
    return this.#signatureKey.privateKey;
  }

  get group(): Group {
    if (this.#group === null) throw new Error('not joined');
    return this.#group;
  }

  /** Takes the newest Welcome of its mailbox. */
  join(): void {
    const item = this.relay.mailbox(this.deviceId).pop();
    if (item === undefined) throw new Error('no Welcome');
    this.#group = joinByWelcome(decode(item.welcome), this.bundle, this.#signatureKey, anybody);
  }

  joinFromOutside(conversationId: string): void {
    const { epoch, groupInfo } = this.relay.log(conversationId);
    const credential = { type: 'basic', identity: this.#certificate } as const;
    const joined = joinExternal(
      decode(groupInfo),
      {
        credential,
        signatureKey: this.#signatureKey,
        leaf: leafOptions,
        memberCheck: () => {},
        resync: true,
      },
      this.#env,
    );
    this.#submit(conversationId, epoch, joined);
  }

  /** Creates a group of its own, under any id, and a Welcome into its epoch `epoch` for those it adds. */
  found(groupId: string, keyPackages: readonly string[], extensions: readonly Extension[] = [], epoch = 1) {
    let group = createGroup(
      {
        suite: 0xf04d,
        groupId: new TextEncoder().encode(groupId),
        credential: { type: 'basic', identity: this.#certificate },
        signatureKey: this.#signatureKey,
        leaf: leafOptions,
        extensions,
      },
      this.#env,
    );
    for (let empty = 1; empty < epoch; empty += 1) {
      group = createCommit(group, { forcePath: true, ...anybody }, this.#env).pending;
    }
    const created = createCommit(group, { adds: keyPackages.map(decode), ...anybody }, this.#env);
    if (created.welcome === null) throw new Error('nobody to welcome');
    this.#group = created.pending;
    return {
      commit: toBase64Url(created.commit),
      welcome: toBase64Url(created.welcome),
      groupInfo: toBase64Url(created.groupInfo),
    };
  }

  /** Processes a commit of somebody else. */
  follow(commit: string): { selfRemoved: boolean } {
    const { group, selfRemoved } = processCommit(this.group, decode(commit), anybody);
    this.#group = group;
    return { selfRemoved };
  }

  leaveStatement(change: Partial<LeaveStatement> = {}): string {
    const { groupId, epoch, ownLeaf } = groupView(this.group);
    const { userId, deviceId } = this;
    const ref = leafRef(this.group, ownLeaf, LEAF_REF_LABEL);
    if (ref === null) throw new Error('has to commit first');
    return toBase64Url(
      signLeaveStatement(
        { groupId, epoch, userId, deviceId, leafRef: ref, ...change },
        this.#signatureKey.privateKey,
      ),
    );
  }

  /** Decrypts an application message of anybody. */
  open(content: string): { text: string; generation: number } {
    const { plaintext, generation } = decryptApplication(this.group, decode(content));
    return { text: new TextDecoder().decode(splitChainHeader(plaintext).content), generation };
  }

  /** Encrypts an application message with its id as the authenticated data. */
  encrypt(plaintext: string | Uint8Array, messageId: string): string {
    const bytes = typeof plaintext === 'string' ? new TextEncoder().encode(plaintext) : plaintext;
    return toBase64Url(encryptApplication(this.group, bytes, new TextEncoder().encode(messageId), this.#env));
  }

  /** Puts a message in the log. */
  send(conversationId: string, plaintext: string | Uint8Array): string {
    const messageId = this.relay.uuid();
    const content = this.encrypt(plaintext, messageId);
    const epoch = Number(groupView(this.group).epoch);
    this.relay.send(this, { conversationId, messageId, epoch, content });
    return content;
  }

  say(conversationId: string, text: string): void {
    this.send(conversationId, JSON.stringify({ v: 1, type: 'text', text, sentAt: '2026-03-01T10:00:00Z' }));
  }

  /** Submits a commit with any changes. */
  commit(
    conversationId: string,
    change: {
      adds?: readonly Rogue[];
      removes?: readonly string[];
      extensions?: readonly Extension[];
      reInit?: CreateCommitArgs['reInit'];
      proposals?: CreateCommitArgs['proposals'];
      authenticatedData?: Uint8Array;
      infoExtensions?: readonly Extension[];
      leaf?: CreateCommitArgs['leaf'];
      forcePath?: boolean;
    },
  ): void {
    const { members, epoch } = groupView(this.group);
    const removes = members
      .filter(({ credential }) =>
        change.removes?.some(
          (deviceId) =>
            credential.type === 'basic' && Buffer.from(credential.identity).includes(Buffer.from(deviceId)),
        ),
      )
      .map(({ leafIndex }) => leafIndex);
    const adds = (change.adds ?? []).map(({ bundle }) => bundle.bytes);
    const { extensions, reInit, proposals, authenticatedData, infoExtensions, leaf } = change;
    const created = createCommit(
      this.group,
      {
        adds,
        removes,
        ...(extensions && { extensions }),
        ...(reInit && { reInit }),
        ...(proposals && { proposals }),
        ...(authenticatedData && { authenticatedData }),
        ...(infoExtensions && { infoExtensions }),
        ...(leaf && { leaf }),
        forcePath: change.forcePath ?? true,
        ...anybody,
      },
      this.#env,
    );
    this.#submit(conversationId, Number(epoch), created);
  }

  /** Submits a commit that is none, with a GroupInfo that is none, as any device of the conversation can. */
  commitNothing(conversationId: string): void {
    const { epoch } = this.relay.log(conversationId);
    const nothing = new Uint8Array(3);
    this.#submit(conversationId, epoch, { pending: this.group, commit: nothing, groupInfo: nothing });
  }

  #submit(
    conversationId: string,
    epoch: number,
    { pending, commit, groupInfo }: { pending: Group; commit: Uint8Array; groupInfo: Uint8Array },
  ): void {
    this.relay.submit(this, {
      conversationId,
      epoch,
      commit: toBase64Url(commit),
      welcomes: [],
      groupInfo: toBase64Url(groupInfo),
      signature: '',
      tree: null,
      sealedName: null,
      addedIds: [],
      removedIds: [],
    });
    // It goes on in a group that it has ended.
    this.#group = { ...pending, status: 'active' };
  }
}

/** Opens a person's vault by the password, for the keys that nothing at rest may show. */
export function openVaultOf(relay: MemoryRelay, userId: string): Vault {
  const vault = relay.vaults.get(userId);
  const params = relay.passwordParams.get(userId);
  if (vault === undefined || params === undefined) throw new Error('has not signed up');
  const password = relay.passwords.get(userId) ?? PASSWORD;
  const { wrapKey } = cheapPasswordKeys(password, { salt: decode(params.salt) });
  const vaultKey = unwrapVaultKey(decode(vault.passwordWrap), wrapKey);
  return openVault(decode(vault.sealedVault), vaultKey, userId).vault;
}

export function decode(wire: string): Uint8Array {
  const bytes = fromBase64Url(wire);
  if (bytes === null) throw new Error('not base64url');
  return bytes;
}

/** Opens the storage key of a browser as its next log-in does. */
export async function storageKeyOf(relay: MemoryRelay, { browser, userId }: TestDevice): Promise<Uint8Array> {
  const db = await answer<IDBDatabase>(browser.indexedDB.open(accountDatabaseName(userId)));
  const row = await answer<Uint8Array>(db.transaction('device').objectStore('device').get('unlock'));
  db.close();
  const unlockKey = deviceUnlockKey(openVaultOf(relay, userId).deviceSecret, row.subarray(0, 16));
  return openRecord(unlockKey, 'device', 'unlock', row.subarray(16));
}
