/**
 * The part of the worker's API for the security of an account: recovery, password, revoked devices, trust
 * between people.
 */
import type { PasswordParams, RotatedVault, StoredVault, WireBytes } from './cryptoApi.ts';
import type { Operation } from './prompt.ts';

/** Credentials of a new password for the relay, and the vault under it. */
export interface NewCredentials {
  readonly authKey: WireBytes;
  readonly passwordParams: PasswordParams;
  /** The public half of the new password's proof key. */
  readonly proofKey: WireBytes;
  readonly vault: RotatedVault;
}

/** The body of the relay's call when a person moves on after a theft, by the names of its contract. */
export interface MovedOn {
  readonly password: WireBytes;
  readonly passwordParams: PasswordParams;
  readonly passwordProofKey: WireBytes;
  readonly vault: RotatedVault;
  /** The new account key's public half. */
  readonly accountKey: WireBytes;
  readonly revocations: readonly { readonly id: string; readonly statement: WireBytes }[];
}

/** A request that the relay takes only with a proof. */
export interface ProofRequest {
  /** Its method and target, as the relay's contract writes them: `DELETE /user`. */
  readonly operation: string;
  /** The body exactly as it is sent; empty for a request without one. */
  readonly body: string;
  /** The version of the vault at the relay. */
  readonly replaces: number;
  /** The id of the relay's session. */
  readonly session: string;
  /** The relay's nonce. */
  readonly nonce: WireBytes;
}

/** The parts of a recovery key that the relay gets. */
export interface RecoveryCredentials {
  readonly recoveryAuthKey: WireBytes;
  readonly recoveryProofKey: WireBytes;
}

export interface RevokedDevice {
  readonly userId: string;
  readonly deviceId: string;
  readonly statement: WireBytes;
}

/** The account state as the relay has it: what a device has signed, and, where many people are known, its segments. */
export interface SealedState {
  readonly sealed: WireBytes;
  readonly segments: readonly WireBytes[];
}

/** The trust in a contact's account key. Times are RFC 3339. */
export interface ContactTrust {
  readonly userId: string;
  /** The time at which their safety number was compared; null if it was not. */
  readonly verifiedAt: string | null;
  /** Another account key was seen: nothing is sent to them directly until it is accepted or refused. */
  readonly keyOffered: boolean;
  /** The username that a live device of theirs has signed; null where none was seen. */
  readonly name: string | null;
  /** The times at which other account keys were accepted. */
  readonly changedAt: readonly string[];
}

/** Safety numbers of 60 digits each, the same on both sides. */
export interface SafetyNumbers {
  readonly current: string;
  /** The one of the account key that is offered. */
  readonly offered: string | null;
}

/** The relay has given one of the person's devices something older than another one had from it before. */
export interface OlderState {
  /** It was given to this device, or there, to the other one. */
  readonly place: 'here' | 'there';
  readonly deviceId: string;
  /** The keys are older, and with them the vault. */
  readonly keys: boolean;
  /** The account state is older. */
  readonly state: boolean;
}

export interface SecurityApi {
  // Confirming with the password.

  /**
   * Asks the person in the frame to confirm an operation with the password, which the page never gets. From then on,
   * for two minutes, the worker does that operation, and signs the one request that belongs to it. For a new recovery
   * key the frame shows it first. Errors: `cancelled`, `usage` while something else is asked.
   */
  confirm(operation: Operation, owner: { username: string; passwordParams: PasswordParams }): Promise<void>;
  /**
   * Signs the request of the operation that was confirmed last, or the one that follows {@link recoverVault}, as the
   * relay's `x-proof` header wants it; before it GET /vault/wraps, where the operation renews the keys. Errors:
   * `usage` for any other request: another method or target, or a body that holds anything else than what was
   * confirmed and what the worker has made for it.
   */
  signPendingProof(request: ProofRequest): Promise<string>;

  // Recovery key and password.

  /**
   * Renews the keys of the account for the recovery key that the person has kept, for PUT /vault. Errors: `usage`
   * unless `create-recovery-key` or `replace-recovery-key` was confirmed, `stale-vault`.
   */
  replaceRecoveryKey(vault: StoredVault): Promise<RecoveryCredentials & RotatedVault>;
  /** Keeps the key for {@link recoverVault}. Errors: `bad-recovery-key` for one that was mistyped. */
  beginRecovery(recoveryKey: string): Promise<RecoveryCredentials>;
  /**
   * Opens the vault as openVault does, by the recovery key, and renews the keys of the account under a new
   * password, for PUT /users/me/password, which is proven by {@link signPendingProof}. Errors: `bad-recovery-key`.
   */
  recoverVault(
    userId: string,
    vault: { sealedVault: WireBytes; recoveryWrap: WireBytes | null; version: number },
    newPassword: string,
  ): Promise<NewCredentials>;
  /**
   * Renews the keys of the account under the new password that was typed in the frame, for PUT /users/me/password.
   * Errors: `usage` unless `change-password` was confirmed, `stale-vault`.
   */
  changePassword(vault: StoredVault): Promise<NewCredentials & { readonly currentAuthKey: WireBytes }>;

  /**
   * Makes another account key for PUT /users/me/account-key: the vault with it under the new password that was typed in the
   * frame, the former key's revocations of these devices and of this one, and a new device for this browser, which takes
   * effect with {@link adoptRenewedKeys}. Errors: `usage` unless `move-on` was confirmed, `stale-vault`.
   * @param input.deviceIds all devices that the person has
   */
  moveOn(input: { vault: StoredVault; deviceIds: readonly string[] }): Promise<MovedOn>;

  // Keys that the devices share.

  /**
   * Takes over the keys that were renewed last, once the relay has taken the vault with them. After {@link moveOn} this
   * browser is another device then, which is outside of all conversations and keeps their messages. Errors: `usage` for
   * another vault than was sealed last.
   */
  adoptRenewedKeys(sealedVault: WireBytes): Promise<void>;
  /**
   * Renews the keys of the account from a vault that is older than one that this device has seen, as after a relay was
   * restored from a backup, for PUT /vault. What was renewed since is lost with {@link adoptRenewedKeys}. Errors: `usage`
   * unless `accept-older-vault` was confirmed.
   */
  acceptOlderVault(vault: StoredVault): Promise<RotatedVault>;
  /**
   * Takes over the keys that another device renewed, from the vault. Errors: `usage` unless `renew-keys` was
   * confirmed, `stale-vault`.
   */
  readRenewedKeys(vault: StoredVault): Promise<void>;
  /**
   * Queues the keys that were renewed as a message to the person's other devices, in `self:<user id>`, where nobody has
   * said them yet. The page prepares it as any other message: it gets the ciphertext and no view of it.
   * It is encrypted once the revoked devices are out of the group.
   * @returns whether such a message waits to be sent
   */
  shareKeys(): Promise<boolean>;
  /** The version of the vault whose keys this device has: a later one at the relay brought others. */
  vaultVersion(): Promise<number>;

  // An older vault or account state that the relay gives one of the devices.

  /**
   * Compares what the person's devices have said of the keys and the account state that they were given. `askAfter` is there
   * where this one is to say so: the page then has it take over the account state that the relay has, makes sure that there
   * is no newer vault, and calls {@link tellRevisions} with it.
   */
  ownRevisions(): Promise<{ readonly askAfter: number | null; readonly older: readonly OlderState[] }>;
  /**
   * Queues a message to the person's other devices, in `self:<user id>`, with the revisions of the keys and the account state
   * that this device has, after the relay was asked for both at this position of that log or later.
   * @returns whether such a message waits to be sent
   */
  tellRevisions(askedAt: number): Promise<boolean>;
  /** The person knows of what {@link ownRevisions} says to be older. */
  acknowledgeOlderStates(): Promise<void>;

  // Revoked devices.

  /**
   * Signs the revocation for DELETE /devices/{id}, and renews the keys of the account. Errors: `usage` unless
   * `revoke-device` was confirmed for it, `stale-vault`.
   */
  revokeDevice(input: {
    vault: StoredVault;
    deviceId: string;
  }): Promise<{ readonly statement: WireBytes; readonly vault: RotatedVault }>;
  /** The revocation of this very device, for whoever erases the browser; null for one from before it was kept. */
  ownRevocation(): Promise<WireBytes | null>;
  /**
   * Takes in the revocations that the relay has. Valid ones are kept for good, others ignored. From then on
   * no message is encrypted in a conversation before a commit has removed such a device.
   */
  setRevoked(revoked: readonly RevokedDevice[]): Promise<void>;
  /**
   * Forgets all that the browser holds of the person but the open session, after this device itself was
   * revoked; the session gets another device. Errors: `usage` when the statement isn't valid, since a relay
   * must not be able to make a browser forget.
   */
  resetDevice(revocation: WireBytes): Promise<void>;

  // Trust between people.

  /** Lists everybody whose account key is known here. */
  contactTrust(): Promise<ContactTrust[]>;
  /**
   * Takes in a person's device certificates as the relay has them: pins the first account key that is seen,
   * and records another one as offered. Null while no key is known.
   */
  observeDevices(userId: string, certificates: readonly WireBytes[]): Promise<ContactTrust | null>;
  /** Computes the safety numbers with a person. Errors: `unknown-person` while no device of theirs was seen. */
  safetyNumbers(userId: string): Promise<SafetyNumbers>;
  /**
   * Seals the account state with a mark that a safety number was compared, or without it, for PUT
   * /account-state. The mark counts here once {@link adoptState} has taken it over. Errors: `usage` when the number
   * isn't the present one, or unless `mark-verified` or `unmark-verified` was confirmed for that person;
   * `missing-key` when another device has renewed the keys.
   * @param sealedState the state that the relay has; null when it has none
   */
  sealVerified(
    sealedState: SealedState | null,
    mark: { userId: string; safetyNumber: string; verified: boolean },
  ): Promise<SealedState>;
  /**
   * Takes over the marks and pins of the account state. What was decided at another device counts here if a live device of
   * the person's has signed the state under the newest keys; of any other state, keys that are unknown here are asked about,
   * and marks count for a browser that has seen none yet. Errors: `missing-key` when it says that it is sealed under newer
   * keys than this device has.
   * @param hasAllKeys no other device has renewed the keys: a state that says so isn't theirs
   * @returns the state to put in its place when it lacks something that is known here, is older than one that was seen, or
   *   no live device answers for it; null otherwise
   */
  adoptState(sealedState: SealedState | null, hasAllKeys?: boolean): Promise<SealedState | null>;
  /**
   * Takes in names as their owners have signed them. Those by no live device under the pinned account key, and older ones
   * than are known, are ignored.
   */
  takeNames(names: readonly { userId: string; signedName: WireBytes }[]): Promise<void>;
  /**
   * Signs the person's own username as they have just typed it, for PUT /users/me/name, or PUT /users/me where
   * `change-names` was confirmed. Errors: `usage` unless signing in, or that was confirmed for this name.
   */
  signName(username: string): Promise<WireBytes>;
  /**
   * Accepts the offered key by the number that the person has seen. Errors: `usage` when it is another key's, or unless
   * `accept-account-key` was confirmed for that person.
   */
  acceptAccountKey(userId: string, safetyNumber: string): Promise<ContactTrust>;
  /** Refuses the offered key, so that the pinned one stays. Errors: `usage` when it is another key's. */
  refuseAccountKey(userId: string, safetyNumber: string): Promise<ContactTrust>;
  /**
   * Returns whether a direct conversation still holds devices under a former account key of the other person, or none under
   * the one that was accepted:
   * nothing is sent in it until addMembers has put their present devices in the place of those.
   */
  hasFormerDevices(conversationId: string): Promise<boolean>;
}
