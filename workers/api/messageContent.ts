import type { AttachedFile } from './attachedFile.ts';

/**
 * The reason for which a message can't be read (PROTOCOL section 8). The list is closed: each has its
 * sentence in the interface.
 */
export type UndecryptableReason =
  | 'before-join'
  | 'storage-erased'
  | 'damaged'
  | 'deleted'
  | 'unknown-device'
  | 'rules';

/** A text as it was written. */
export interface Words {
  readonly text: string;
  /** It is Markdown (GFM without HTML); else it is shown as it stands. */
  readonly isMarkdown?: true;
}

export type MessageContent =
  | ({ readonly kind: 'text' } & Words)
  | ({ readonly kind: 'files'; readonly files: readonly AttachedFile[] } & Words)
  /** Its author has deleted it for everybody: nothing of it is kept. */
  | { readonly kind: 'deleted' }
  /** A payload type of a newer version ("Update the app to see this message"), kept as it came. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'undecryptable'; readonly reason: UndecryptableReason };
