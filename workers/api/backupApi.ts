/** The part of the door for copies of messages at the relay, sealed for this person's other devices, also those to come. */
import type { MessageView, WireBytes } from './cryptoApi.ts';

export interface HistoryCopy {
  /** The message's id. */
  readonly id: string;
  readonly conversationId: string;
  readonly sealed: WireBytes;
}

export interface StoredHistoryCopy extends HistoryCopy {
  /** Counts up in the order of storing. */
  readonly position: number;
}

export interface ReadCopies {
  /** What can be read now and could not before. */
  readonly messages: readonly MessageView[];
  readonly kept: boolean;
  /** Copies came after the person had switched them off: a device that hadn't heard of it yet. */
  readonly isLate: boolean;
}

export interface HistoryApi {
  /** Whether copies are wanted, and up to which position of the relay's they are known here. */
  historyState(): Promise<{ readonly kept: boolean; readonly position: number }>;
  /** For all devices of the person; they are told by {@link historySetting}. */
  setHistoryKept(kept: boolean): Promise<void>;
  /**
   * What has to be put among the copies, after all others were deleted if it is off. Null once that was done, unless it
   * is asked for again.
   */
  historySetting(again?: boolean): Promise<{ readonly kept: boolean; readonly copy: HistoryCopy } | null>;
  historySettingTold(kept: boolean): Promise<void>;
  /** Those with messages that have no copy yet. */
  conversationsToCopy(): Promise<string[]>;
  /** The next ones of a conversation, oldest first; perhaps none, up to a position. Null when all have copies. */
  nextCopies(
    conversationId: string,
  ): Promise<{ readonly copies: readonly HistoryCopy[]; readonly upTo: number } | null>;
  /** @param input.stored what the relay said; null when there was nothing to store */
  copiesStored(input: {
    conversationId: string;
    upTo: number;
    stored: { readonly count: number; readonly lastPosition: number } | null;
  }): Promise<void>;
  /** Takes over what can't be read here otherwise. What isn't this person's is ignored. */
  readCopies(copies: readonly StoredHistoryCopy[]): Promise<ReadCopies>;
}
