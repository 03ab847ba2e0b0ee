/** The most that is kept of one person, beside the limits of the contract; clients need not know it. Sizes are bytes. */
export const personQuotas = {
  /** Content of messages and commits that one has sent and that the relay keeps. */
  storedBytesPerUser: 128 * 1024 * 1024,
  /** As much of it as leaves room for messages to others: beyond it, messages to one's own devices are refused. */
  storedBytesForOwnDevices: 64 * 1024 * 1024,
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
