/** Milliseconds, from the spec's constants (section 9) where it names them. */
export const timings = {
  tokenCheck: 60_000,
  contactsPolling: 10_000,
  /** The log is asked at this interval while the real-time connection is down. */
  syncPolling: 10_000,
  /** The time that an entry of the open group may take on its way by MQTT before it is fetched. */
  streamedEntry: 500,
  notificationPolling: 10_000,
  /** The time for which known presence outlives the presence socket. */
  presenceGrace: 5_000,
  /** Between attempts to read a list that could not be read. */
  listRetryBase: 1_000,
  listRetryMax: 10_000,
  /** The time for which a start waits for the real-time subscription before it reads without it. */
  subscriptionPatience: 2_000,
  /** The time for which a start waits for the relay before it shows what this browser has. */
  startPatience: 4_000,
  /** Between attempts to reach the relay while it can't be reached. */
  reachPolling: 10_000,
  redirectNotSignedIn: 1_500,
  redirectUnauthenticated: 2_000,
  /** Between readings of the copies that other devices have left meanwhile. */
  backupPolling: 300_000,
  /** The time for which messages gather before their copies are left at the relay. */
  backupCopying: 5_000,
  /** The time for which the open chat's new messages gather before they count as read: the screen comes first. */
  readingDelay: 30,
  /** The time for which what is received and read gathers before this device's receipt tells it. */
  receiptDelay: 1_000,
  /** Over which time the receipts of a group's members are spread beyond that. */
  receiptSpread: 3_000,
  /** The time after a change at which a draft is kept: a crash may lose as much. */
  draftKeeping: 500,
  /** After which it is tried again where that has failed. */
  draftRetry: 10_000,
  /** Signing out must not hang on a relay that doesn't answer. */
  logoutAnswer: 3_000,
  /** The time that another device has for giving this one the keys that were renewed, before the person is asked. */
  keysPatience: 10_000,
  /** Within which time one of the own devices says keys that the one which renewed them could not say. */
  keysSharing: 6_000,
  /** The time for which what is read and drafted gathers before the own devices are told, and between two messages. */
  ownStateGathering: 200,
  ownStateSpacing: 1_000,
  /** After which they are told again where that has failed. */
  ownStateRetry: 10_000,
  /** The time after a key was pressed in which no draft of another device takes the place of what is being typed. */
  typingPause: 3_000,
  /** Between looks at what is muted, at most. */
  mutesCheck: 60 * 60_000,
  /** Between two signs that the person is writing, and for how long each is shown. */
  typingSpacing: 3_000,
  typingShown: 6_000,
  /** The time for which people who were seen first gather before the own devices are told. */
  pinsSharing: 1_000,
  /** Between attempts to be the one whose commit the relay takes. */
  commitRetryBase: 100,
  commitRetryMax: 3_000,
  /** Between readings of a group's members that differ from its keys: either may only be late. */
  settleBase: 250,
  settleMax: 2_000,
  /** Between comparisons of a group's members while they differ. */
  mismatchPolling: 10_000,
  /** Within which time the leaves of who has left a group are removed, and its name is sealed for who came later. */
  tidyingByCreator: 500,
  tidyingByOthers: 6_000,
  /** After which a group that has ended is looked at once more: another tab may be erasing it. */
  endedCheck: 2_000,
  /** The time for ending groups before the account is deleted, well within which the proof of it is good. */
  groupsBeforeDeletion: 60_000,
  /** Between looks for messages that are over: while one is on screen that another tab may have begun, and at most. */
  disappearingCheck: 10_000,
  disappearingRest: 60 * 60_000,
  /** After which KeyPackages are published anew: half their lifetime. */
  keyPackageRenewal: 45 * 24 * 60 * 60_000,
  /** Between looks at whether that is due, for a page that stays open. */
  keyPackagePolling: 24 * 60 * 60_000,
  /** After this many failed attempts in a row a conversation rests. */
  rejoinPause: 60_000,
} as const;
