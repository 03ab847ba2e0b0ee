import type { ConversationState, OwnReceipt, ProcessResult } from './conversationsApi.ts';

/** A receipt as the relay has it, of the device that it names. */
export interface GivenReceipt extends OwnReceipt {
  readonly userId: string;
  readonly deviceId: string;
}

export interface ReceiptsApi {
  /**
   * Makes this device's receipt of what it has processed and shown, where the relay has none like it yet; else null, as in
   * conversations without receipts. It uses up no key.
   * @param isShown the person lets others see how far they have received and read
   */
  makeReceipt(
    conversationId: string,
    isShown: boolean,
  ): Promise<{ receipt: OwnReceipt; readSeq: number } | null>;
  /** Notes that the relay has a receipt, with the read position that came with it. */
  receiptStored(
    conversationId: string,
    stored: { epoch: number; position: number; readSeq: number },
  ): Promise<ConversationState>;
  /**
   * Takes receipts over: those that the device named has signed in this epoch, up to which it was given the same log as this
   * one. All others change nothing, but for what is found where the logs differ. Those that are ahead of this device are
   * to be given again once it is there.
   * @param isShown as of makeReceipt: who hides theirs is told of no receipt that agrees
   */
  takeReceipts(
    conversationId: string,
    receipts: readonly GivenReceipt[],
    isShown: boolean,
  ): Promise<ProcessResult>;
}
