/** The part of the worker's API for what keeps an account its person's: recovery, password, revoked devices, who others are. */
import type { PasswordParams, SealedVault, WireBytes } from './cryptoApi.ts';

/** A vault key under a new password, and how that is shown to the relay. */
export interface NewCredentials {
  readonly authKey: WireBytes;
  readonly passwordParams: PasswordParams;
  readonly passwordWrap: WireBytes;
}

export interface NewRecoveryKey {
  /** As it is shown, once: 14 groups of 4 characters, joined by hyphens. */
  readonly recoveryKey: string;
  readonly recoveryAuthKey: WireBytes;
  readonly recoveryWrap: WireBytes;
}

export interface RevokedDevice {
  readonly userId: string;
  readonly deviceId: string;
  readonly statement: WireBytes;
}

/** How far it is certain who a person is. Times are RFC 3339. */
export interface ContactTrust {
  readonly userId: string;
  /** When their safety number was compared; null if it was not. */
  readonly verifiedAt: string | null;
  /** Another account key was seen: nothing is sent to them directly until it is accepted or refused. */
  readonly keyOffered: boolean;
  /** When another account key was accepted. */
  readonly changedAt: readonly string[];
}

/** 60 digits each, the same on both sides. */
export interface SafetyNumbers {
  readonly current: string;
  /** Of the account key that is offered. */
  readonly offered: string | null;
}

export interface SecurityApi {
  // Recovery key and password.

  /** Takes effect with PUT /vault. The only time that the key is let out. */
  createRecoveryKey(): Promise<NewRecoveryKey>;
  /** Keeps the key for {@link recoverVault}. Errors: `bad-recovery-key` for one that was mistyped. */
  beginRecovery(recoveryKey: string): Promise<{ recoveryAuthKey: WireBytes }>;
  /** As openVault, by the recovery key, which a new password then replaces. Errors: `bad-recovery-key`. */
  recoverVault(
    userId: string,
    vault: Pick<SealedVault, 'sealedVault' | 'recoveryWrap'>,
    newPassword: string,
  ): Promise<NewCredentials>;
  /** For PUT /users/me/password. Errors: `wrong-password`. */
  changePassword(input: {
    currentPassword: string;
    currentParams: PasswordParams;
    newPassword: string;
    passwordWrap: WireBytes;
  }): Promise<NewCredentials & { readonly currentAuthKey: WireBytes }>;

  // Devices that are no more.

  /** The signed statement for DELETE /devices/{id}. */
  revokeDevice(deviceId: string): Promise<WireBytes>;
  /**
   * What the relay says of revoked devices. Statements that hold are kept for good, others ignored. From then on no
   * message is made in a conversation before a commit has removed such a device.
   */
  setRevoked(revoked: readonly RevokedDevice[]): Promise<void>;
  /**
   * This device itself was revoked: forgets all that the browser holds of the person but the open session, which gets
   * another device. Errors: `usage` when the statement doesn't hold: a relay can't make a browser forget.
   */
  resetDevice(revocation: WireBytes): Promise<void>;

  // Trust between people.

  /** Everybody whose account key is known here. */
  contactTrust(): Promise<ContactTrust[]>;
  /**
   * A person's device certificates as the relay has them: the first account key that is seen is pinned, another one
   * offered. Null while no key is known.
   */
  observeDevices(userId: string, certificates: readonly WireBytes[]): Promise<ContactTrust | null>;
  /** Errors: `not-found` for a person of whom no device was seen yet. */
  safetyNumbers(userId: string): Promise<SafetyNumbers>;
  /**
   * The vault with a mark that a safety number was compared, or without it, for PUT /vault. It counts here once it is
   * taken over by {@link adoptVerified}. Errors: `usage` when the number isn't the present one.
   */
  sealVerified(
    vault: SealedVault,
    mark: { userId: string; safetyNumber: string; verified: boolean },
  ): Promise<WireBytes>;
  /** Takes over the marks in the vault, of whichever device; those of an older vault than the newest seen are ignored. */
  adoptVerified(vault: SealedVault): Promise<void>;
  /** By the number that the person has seen. Errors: `usage` when it isn't that of the key that is offered. */
  acceptAccountKey(userId: string, safetyNumber: string): Promise<ContactTrust>;
  /** As {@link acceptAccountKey}: the key so far stays. */
  refuseAccountKey(userId: string, safetyNumber: string): Promise<ContactTrust>;
  /**
   * Whether a direct conversation still holds devices under an account key that the person had before: nothing is
   * sent in it until addMembers has put the present ones in their place.
   */
  hasFormerDevices(conversationId: string): Promise<boolean>;
}
