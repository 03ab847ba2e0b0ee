/** The most that is kept of one person, beside the limits of the contract; clients need not know it. Sizes are bytes. */
export const personQuotas = {
  /** Content of messages and commits that one has sent and that the relay keeps. */
  storedBytesPerUser: 128 * 1024 * 1024,
  /** As much of it as leaves room for messages to others: beyond it, messages to one's own devices are refused. */
  storedBytesForOwnDevices: 64 * 1024 * 1024,
  /** Entries that one adds to logs in a day (UTC): their places stay, whoever has received what was in them. */
  entriesADay: 20_000,
  /** As many of them as leave room for those to others. */
  entriesADayForOwnDevices: 10_000,
  /** Welcomes that one has sent and that wait for their devices. */
  welcomeBytesPerUser: 64 * 1024 * 1024,
  /** GroupInfos of the groups that one has created. */
  groupInfoBytesPerUser: 128 * 1024 * 1024,
  keyPackageBytesPerUser: 16 * 1024 * 1024,
  /** Pending contact requests that one has sent, and that one has received. */
  requestsSentPerUser: 200,
  requestsReceivedPerUser: 1000,
  /** Invitations to groups that wait for one. */
  groupInvitationsPerUser: 200,
} as const;

const dayMs = 24 * 60 * 60 * 1000;

/** The day, in UTC, of a time in milliseconds since the epoch: how many came before it since then. */
export const dayOf = (time: number): number => Math.floor(time / dayMs);
