/** Sizes in bytes. Those of the wire are the relay's (relay/contract/limits.ts), which the worker can't import. */
export const limits = {
  /** UTF-8 of a message's text. */
  text: 64 * 1024,
  /** An encoded payload: what still fits the relay's 128 KiB once it is padded and sealed. */
  payload: 120 * 1024,
  content: 128 * 1024,
  commit: 2 * 1024 * 1024,
  welcome: 2 * 1024 * 1024,
  groupInfo: 4 * 1024 * 1024,
  keyPackage: 16 * 1024,
  sealedName: 1024,
  leaveStatement: 1024,
  /** Characters (Unicode code points) of a group's name. */
  groupName: 100,
  keyWrap: 512,
  sealedVault: 64 * 1024,
  /** Characters: far beyond what anybody types, short of what would hang the worker. */
  password: 4096,
  keyPackagesPerCall: 200,
  devicesPerStart: 1000,
  entriesPerCall: 1000,
  messagesPerPage: 1000,
  /** Unread messages are counted up to here. */
  unread: 100,
} as const;
