/** Milliseconds, from the spec's constants (section 9) where it names them. */
export const timings = {
  tokenCheck: 60_000,
  contactsPolling: 10_000,
  /** The log is asked at this interval while the real-time connection is down. */
  syncPolling: 10_000,
  /** How long an entry of the open group may take on its way by MQTT before it is fetched. */
  streamedEntry: 500,
  notificationPolling: 10_000,
  redirectNotSignedIn: 1_500,
  redirectUnauthenticated: 2_000,
  /** Signing out must not hang on a relay that doesn't answer. */
  logoutAnswer: 3_000,
  /** Between attempts to be the one whose commit the relay takes. */
  commitRetryBase: 100,
  commitRetryMax: 3_000,
  /** Between readings of a group's members that differ from its keys: either may only be late. */
  settleBase: 250,
  settleMax: 2_000,
  /** How often they are compared while they differ. */
  mismatchPolling: 10_000,
  /** Within which time the leaves of who has left a group are removed. */
  removalByCreator: 500,
  removalByOthers: 6_000,
  /** After this many failed attempts in a row a conversation rests. */
  rejoinPause: 60_000,
} as const;
