/** What the parts of a chat need to know of a message. */
export interface ChatMessage {
  readonly messageId: string;
  /** Position in the conversation's log; null while it waits to be sent. */
  readonly seq: number | null;
  readonly senderId: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly status: 'sending' | 'sent' | 'failed' | 'received';
  readonly content: ChatContent;
}

export type ChatContent =
  | { readonly kind: 'text'; readonly text: string }
  /** Of a newer version. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'undecryptable'; readonly reason: UndecryptableReason };

export type UndecryptableReason = 'before-join' | 'storage-erased' | 'damaged' | 'unknown-device' | 'rules';
