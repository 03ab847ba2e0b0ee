/**
 * Limits; sizes are in bytes. Those of the wire repeat the relay's (relay/contract/limits.ts), which the
 * worker can't import.
 */
export const limits = {
  /** A message's text in UTF-8. */
  text: 64 * 1024,
  /** Characters of a payload of one's own, which still fits the relay's 128 KiB once it is padded and sealed. */
  payload: 120 * 1024,
  content: 128 * 1024,
  /** Characters of a payload as it is stored: content in base64url, behind what says so. */
  storedPayload: 176 * 1024,
  commit: 5 * 1024 * 1024,
  welcome: 2 * 1024 * 1024,
  groupInfo: 4 * 1024 * 1024,
  /**
   * Devices up to which the tree of a group is in its GroupInfo and Welcomes: one call fewer for who joins, and a megabyte's
   * thirtieth at most.
   */
  devicesWithTreeInside: 16,
  /** A ratchet tree, and nodes of one that go to the relay by one call. */
  tree: 16 * 1024 * 1024,
  treeNodes: 1024 * 1024,
  /** Calls that a whole tree takes. */
  treeCalls: 64,
  /** Keys to which the path of a commit that only adds is encrypted at most, if it adds no more devices than that. */
  pathKeys: 8,
  keyPackage: 16 * 1024,
  sealedName: 1024,
  leaveStatement: 1024,
  /** People of a conversation with receipts, and the receipts of all their devices. */
  peopleWithReceipts: 32,
  receiptsPerCall: 1000,
  receipt: 256,
  /** Characters of a sealed sign of writing, and devices of whose signs the time is remembered. */
  typing: 128,
  typingDevices: 1000,
  /** Characters (Unicode code points) of a group's name. */
  groupName: 100,
  keyWrap: 2048,
  /** Public keys by which a device checks the password: one for each time that it was changed there, lately. */
  proofKeys: 8,
  sharedKeys: 500,
  /** Shared keys as the account key signs them, and the renewals of which a device keeps that. */
  keysStatement: 1024,
  keysStatements: 16,
  certificate: 1024,
  /** Starts of a device that the relay may have, while it doesn't answer, and those that a request names: the contract's limit. */
  formerStarts: 4096,
  startsNamed: 64,
  revocation: 1024,
  devicesPerPerson: 1000,
  /** Former account keys of a contact. */
  formerKeys: 100,
  /** Account keys of one person that wait for this person's word, and are one question. */
  offeredKeys: 4,
  /** People whose account keys are in the account state, and the segments of it: the relay has room for no more. */
  pinnedPeople: 12_000,
  accountState: 1024 * 1024,
  stateSegment: 64 * 1024,
  stateSegments: 256,
  sealedVault: 64 * 1024,
  /** Characters of a password: more than anybody types, and too few to hang the worker. */
  password: 4096,
  /** Characters of the name or address that an operation is confirmed for. */
  operationTarget: 320,
  /** Characters of a request's method and target, and of its body, that a proof is made for. */
  proofOperation: 512,
  proofBody: 128 * 1024,
  keyPackagesPerCall: 200,
  devicesPerStart: 1000,
  entriesPerCall: 1000,
  messagesPerPage: 1000,
  /** Messages that one call opens for a gallery, which may find files in none of them. */
  messagesLookedThrough: 1000,
  backupEntry: 128 * 1024,
  backupEntriesPerCall: 200,
  /** Bytes of sealed backup entries after which a call makes no more. */
  backupBytesPerCall: 1024 * 1024,
  /** Characters of the name of an entry in the local store. */
  localEntryName: 200,
  /**
   * A text in the local store, in UTF-8. The longest are the relay's lists: 500 groups with the longest sealed
   * names take 0.8 MB, and of contacts, which the relay doesn't limit, there is room for 9,000 with the longest
   * names and addresses.
   */
  localEntryText: 4 * 1024 * 1024,
  /** A name as its owner's device has signed it, with that device's certificate. */
  signedName: 2048,
  /** Characters of a person's name. */
  memberName: 256,
  /** People whose names are kept for a group, former members included. */
  namesPerGroup: 2000,
  /** Events kept for a conversation; older ones are dropped. */
  eventsPerConversation: 1000,
  /** Devices of a conversation that are known to have been given another log; beyond it the oldest are forgotten. */
  divergedDevices: 32,
  /** Differing headers of one device in an epoch that are looked into; what they say more is no news. */
  differingHeaders: 8,
  /** Missing messages that are counted; a client that claims more of its own is one line in an epoch. */
  missingMessages: 100,
  /** Newest rows of the running hash that stay for as long, to be put beside those of somebody else. */
  rowsKept: 500,
  /** Entries in a file of what a device saw, the newest; characters of a text there, and of the whole file. */
  viewEntries: 2000,
  viewText: 2000,
  viewFile: 16 * 1024 * 1024,
  /** Entries up to which a device that comes new takes all digests of the log, and compares what the GroupInfo says. */
  entriesLinked: 1000,
  /** Milliseconds since the Unix epoch: the latest that a Date can be. */
  latestTime: 8.64e15,
  /** Milliseconds between the sender's clock and the relay's up to which the sender's is shown. */
  clockDifference: 5 * 60_000,
  /** Days by which an entry has to be too young to have been deleted: clocks may be a day apart, and jobs run late. */
  daysOfDoubt: 2,
  /** Messages among which the last one of a device is looked for, when its clock is behind another sender's. */
  clocksLookedAt: 50,
  /** Entries in the local store. */
  localEntries: 2000,
  /**
   * Limits among own devices: the newest read positions and drafts in a message and of those that wait to be told; bytes
   * of a message's drafts as JSON; the drafts whose times a device knows; and the own messages that it keeps, and
   * those that it knows of besides, which are more than an epoch has.
   */
  readsTold: 100,
  draftsTold: 20,
  pendingReads: 500,
  pendingDrafts: 20,
  draftsSize: 96 * 1024,
  /** Bytes of drafts beside which a message has room for all of the rest, and what it has of each kind of that beside more. */
  draftsBesideAll: 64 * 1024,
  toldBesideDrafts: 20,
  /** Readings that started the clocks of messages, in a message among own devices and of those that wait to be told. */
  readingsTold: 100,
  mutes: 500,
  mutesTold: 100,
  draftTimes: 500,
  ownMessagesKept: 4,
  ownMessagesKnown: 64,
  /**
   * Messages of own devices on the keys and the account state that they are given: the newest that this one has said, and the
   * others that it has heard of.
   */
  revisionsSaid: 32,
  revisionsHeard: 64,
  /** Messages that a person can star: a list that one reads. And the changes among own devices that are looked through for them. */
  stars: 500,
  starsRead: 10_000,
  /** Files of a message, and bytes of one: more than any operator lets through. */
  filesPerMessage: 20,
  fileSize: 1024 * 1024 * 1024,
  /** Bytes that the page and the worker hand each other at once, 8 chunks of a file: no step may hold 2 MB, in all of its forms. */
  filePiece: 512 * 1024,
  sealedPiece: 8 * 65_552,
  /** A file's name as it is given and as it is shown, and its description, in UTF-16 units; the bytes of its preview. */
  givenFileName: 4000,
  fileName: 255,
  fileDescription: 1000,
  filePreview: 8 * 1024,
  /** Characters of a caption: the previews stand beside it. */
  caption: 16 * 1024,
  /** Pixels of a picture's side, milliseconds of a recording, and the values of its waveform. */
  pictureSide: 65_535,
  recording: 7 * 24 * 60 * 60 * 1000,
  waveform: 64,
  /** Files that are being sealed, and opened, at once. */
  filesSealing: 8,
  filesOpen: 64,
  /** UTF-16 units of an emoji that is a reaction; emojis of a person at a message; and reactions to one that are looked at. */
  emoji: 40,
  emojisPerPerson: 20,
  reactionsRead: 1000,
  /** Edits of a message that count, the first ones, and how many of these may be of one another. */
  editsRead: 100,
  editsOfEdits: 10,
  /** Messages from before content ids were kept that get theirs in one transaction. */
  idsPerTransaction: 200,
  /** Unread messages, which are counted no further. */
  unread: 100,
} as const;
