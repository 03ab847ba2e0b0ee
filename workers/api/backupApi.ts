/** The part of the worker's API for copies of messages at the relay, sealed for this person's other devices, also those to come. */
import type { MessageView, WireBytes } from './cryptoApi.ts';

export interface BackupEntry {
  /** The message's id. */
  readonly id: string;
  readonly conversationId: string;
  readonly sealed: WireBytes;
}

export interface StoredBackupEntry extends BackupEntry {
  /** Counts up in the order of storing. */
  readonly position: number;
}

export interface ReadBackup {
  /** What can be read now and could not before. */
  readonly messages: readonly MessageView[];
  readonly kept: boolean;
  /** Copies came after the person had switched them off: a device that hadn't heard of it yet. */
  readonly isLate: boolean;
}

export interface BackupApi {
  /** Whether copies are wanted, and up to which position of the relay's they are known here. */
  backupState(): Promise<{ readonly kept: boolean; readonly position: number }>;
  /** For all devices of the person; they are told by {@link backupSetting}. */
  setBackupKept(kept: boolean): Promise<void>;
  /**
   * What has to be put among the copies, after all others were deleted if it is off. Null once that was done, unless it
   * is asked for again.
   */
  backupSetting(again?: boolean): Promise<{ readonly kept: boolean; readonly copy: BackupEntry } | null>;
  backupSettingStored(kept: boolean): Promise<void>;
  /** Those with messages that have no copy yet. */
  conversationsToBackUp(): Promise<string[]>;
  /** The next ones of a conversation, oldest first; perhaps none, up to a position. Null when all have copies. */
  nextBackupEntries(
    conversationId: string,
  ): Promise<{ readonly copies: readonly BackupEntry[]; readonly upTo: number } | null>;
  /** @param input.stored what the relay said; null when there was nothing to store */
  backupEntriesStored(input: {
    conversationId: string;
    upTo: number;
    stored: { readonly count: number; readonly lastPosition: number } | null;
  }): Promise<void>;
  /** Takes over what can't be read here otherwise. What isn't this person's is ignored. */
  readBackup(copies: readonly StoredBackupEntry[]): Promise<ReadBackup>;
}
