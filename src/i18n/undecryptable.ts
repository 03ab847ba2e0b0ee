import type { MessageId } from './catalogue.ts';

/** Texts for why a message can't be read, by the worker's reason; with `Todo` after it, the person's next step. */
export const undecryptableTexts = {
  'before-join': 'chat.undecryptableBeforeJoin',
  'storage-erased': 'chat.undecryptableStorageErased',
  damaged: 'chat.undecryptableDamaged',
  deleted: 'chat.undecryptableDeleted',
  'unknown-device': 'chat.undecryptableUnknownDevice',
  rules: 'chat.undecryptableRules',
} as const satisfies Record<string, MessageId>;
