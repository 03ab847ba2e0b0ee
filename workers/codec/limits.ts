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
  certificate: 1024,
  revocation: 1024,
  devicesPerPerson: 1000,
  /** Account keys that a contact had before. */
  formerKeys: 100,
  /** Contacts in the vault whose safety numbers were compared: what its size has room for. */
  verifiedContacts: 600,
  sealedVault: 64 * 1024,
  /** Characters: far beyond what anybody types, short of what would hang the worker. */
  password: 4096,
  keyPackagesPerCall: 200,
  devicesPerStart: 1000,
  entriesPerCall: 1000,
  messagesPerPage: 1000,
  backupEntry: 128 * 1024,
  backupEntriesPerCall: 200,
  /** Bytes of sealed copies at which no more are made in one call. */
  backupBytesPerCall: 1024 * 1024,
  /** Characters of a note's name. */
  localEntryName: 200,
  localEntryText: 64 * 1024,
  /** Characters of a person's name. */
  memberName: 256,
  /** People whose names are kept for a group, also after they left it. */
  namesPerGroup: 2000,
  /** Events kept for a conversation: the newest. */
  eventsPerConversation: 1000,
  /** How many notes a person has in a browser. */
  localEntries: 2000,
  /** Unread messages are counted up to here. */
  unread: 100,
} as const;
