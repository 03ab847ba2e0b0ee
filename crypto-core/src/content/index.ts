/**
 * Content of messages: MIMI content, which says what a message is, files beside messages, and what stands beside both so that a
 * log can't be edited unseen: running hash, chain header, receipts. And who is writing, and what is pinned.
 */

export { type RunningSha256, runningSha256 } from '../suite/sodium.ts';
export type { CborValue } from './cbor.ts';
export {
  CHAIN_HEADER_LENGTH,
  type ChainHeader,
  encodeChainHeader,
  splitChainHeader,
  withChainHeader,
} from './chainHeader.ts';
export {
  FILE_CHUNK_LENGTH,
  FILE_KEY_LENGTH,
  type FileToSeal,
  openedFileLength,
  openFileChunk,
  SEALED_FILE_CHUNK_LENGTH,
  type SealedFile,
  sealedFileLength,
  sealFileChunk,
} from './fileStream.ts';
export {
  findLogPosition,
  LOG_POSITION_EXTENSION,
  type LogPosition,
  logPositionExtension,
} from './logPosition.ts';
export {
  CONTENT_EXTENSION,
  DISPOSITION,
  decodeMimiContent,
  type Expiration,
  type ExternalPart,
  encodeMimiContent,
  MIMI_MESSAGE_ID_LENGTH,
  MIMI_SALT_LENGTH,
  type MimiContent,
  type MultiPart,
  mimiMessageId,
  type NestedPart,
  type NullPart,
  olderMessageId,
  type PartSemantics,
  type SinglePart,
} from './mimiContent.ts';
export {
  findPinnedMessages,
  MAX_PINNED_MESSAGES,
  PINNED_MESSAGES_EXTENSION,
  pinnedMessagesExtension,
} from './pinnedMessages.ts';
export {
  isReceiptSigned,
  openReceipt,
  RECEIPT_LABEL,
  type Receipt,
  type ReceiptPlace,
  sealReceipt,
  signReceipt,
} from './receipt.ts';
export { emptyRunningHash, entryDigest, type LoggedEntry, nextRunningHash } from './runningHash.ts';
export { openTyping, sealTyping, TYPING_LABEL, type Typing, type TypingPlace } from './typing.ts';
