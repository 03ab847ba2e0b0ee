/**
 * The part of the worker's API for the message backup: copies at the relay, sealed for the person's present
 * and future devices.
 */
import type { WireBytes } from '../codec/base64url.ts';
import type { MessageView } from './conversationsApi.ts';

export interface BackupEntry {
  /** The id of the message, or a random one for a setting. */
  readonly id: string;
  readonly conversationId: string;
  readonly sealed: WireBytes;
}

export interface StoredBackupEntry extends BackupEntry {
  /** The relay's number of the entry, ascending in the order of storing. */
  readonly position: number;
}

export interface ReadBackup {
  /** Messages that this device couldn't read before. */
  readonly messages: readonly MessageView[];
  readonly kept: boolean;
  /**
   * Messages were added after the person had switched the backup off, by a device that didn't know it yet.
   */
  readonly isLate: boolean;
  /** False when an entry waits for keys that another device has renewed: neither it nor those after it were read. */
  readonly isComplete: boolean;
}

export interface BackupApi {
  /**
   * Returns whether the person wants the backup, and the relay's position up to which this device knows it.
   */
  backupState(): Promise<{ readonly kept: boolean; readonly position: number }>;
  /**
   * Switches the backup on or off for all devices of the person; {@link backupSetting} tells the other ones.
   */
  setBackupKept(kept: boolean): Promise<void>;
  /**
   * Returns the entry to store in the backup, so that the other devices learn the setting. Where `kept` is
   * false, all entries have to be deleted first. Null once the entry has been stored, unless it is asked for
   * `again`.
   */
  backupSetting(again?: boolean): Promise<{ readonly kept: boolean; readonly copy: BackupEntry } | null>;
  /** Notes that the relay has taken the setting, unless it was changed meanwhile. */
  backupSettingStored(kept: boolean): Promise<void>;
  /** Lists the conversations that have messages without a backup. */
  conversationsToBackUp(): Promise<string[]>;
  /**
   * Seals the next messages of a conversation, oldest first, up to the position `upTo`; there may be none to
   * store among them. Null when all are backed up. With `replaces`, the device's signature, they take the place of copies of
   * messages that were deleted since, and have nothing of these.
   */
  nextBackupEntries(conversationId: string): Promise<{
    readonly copies: readonly BackupEntry[];
    readonly upTo: number;
    readonly replaces?: WireBytes;
  } | null>;
  /**
   * Notes that the messages up to `upTo` are backed up.
   * @param input.replaced ids of the copies that took the place of others
   * @param input.stored the relay's answer; null when there was nothing to store
   */
  backupEntriesStored(input: {
    conversationId: string;
    upTo: number;
    replaced?: readonly string[];
    stored: { readonly count: number; readonly lastPosition: number } | null;
  }): Promise<void>;
  /**
   * Restores messages that this device can't read otherwise. Ignores entries that no device of the person
   * sealed.
   * @param hasAllKeys no other device has renewed the keys: what says that it is sealed under newer ones isn't theirs
   * @param after the position from which the relay was asked for them
   */
  readBackup(
    entries: readonly StoredBackupEntry[],
    hasAllKeys?: boolean,
    after?: number,
  ): Promise<ReadBackup>;
}
