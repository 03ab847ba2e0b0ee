/** Parts of messages, and beside them, so that a log can't be edited unseen: running hash, chain header, receipts. */

export {
  CHAIN_HEADER_LENGTH,
  type ChainHeader,
  encodeChainHeader,
  splitChainHeader,
  withChainHeader,
} from './chainHeader.ts';
export {
  findLogPosition,
  LOG_POSITION_EXTENSION,
  type LogPosition,
  logPositionExtension,
} from './logPosition.ts';
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
