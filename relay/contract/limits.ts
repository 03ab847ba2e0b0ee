/** Every limit that the relay enforces and a client must respect. Sizes are bytes unless the name says otherwise. */
export const limits = {
  usernameMinLength: 2,
  usernameMaxLength: 32,
  emailMaxLength: 254,
  fullNameMaxLength: 100,
  deviceNameMaxLength: 100,
  searchMinLength: 2,
  searchMaxResults: 20,
  /** Application message ciphertext (an MLSMessage holding a PrivateMessage). */
  contentMax: 128 * 1024,
  /** A path to each device of the largest group, as long as nobody in it has committed: 1,170 bytes for each. */
  commitMax: 5 * 1024 * 1024,
  welcomeMax: 2 * 1024 * 1024,
  groupInfoMax: 4 * 1024 * 1024,
  welcomesPerCommit: 300,
  /** A node of a ratchet tree: a leaf with its certificate, or a parent with the leaves that it lists. */
  treeNodeMax: 32 * 1024,
  /** Nodes that one call brings, with the lengths before them. */
  treeNodesPerRequest: 1024 * 1024,
  /** Levels above the leaves: 4,096 devices. */
  treeLevels: 12,
  /** Nodes of the deepest tree, blank ones included. */
  treeNodes: 8191,
  keyPackageMax: 16 * 1024,
  keyPackagesPerRequest: 100,
  keyPackagesPerDevice: 200,
  /** People whose KeyPackages one call takes: more would be a large answer for one page to take in. */
  peoplePerClaim: 25,
  certificateMax: 1024,
  /**
   * The smallest vault there is, from before they were padded: three keys of 32 bytes with their lengths, no contact and
   * the revision, in an envelope of 41.
   */
  sealedVaultMin: 145,
  sealedVaultMax: 64 * 1024,
  /** The vault key of 32 bytes in an envelope of 41; to a recovery key it is sealed by HPKE with X-Wing, in 1,169. */
  keyWrapMin: 73,
  keyWrapMax: 2048,
  /** People ever seen take some 75 bytes each, in segments of 64 people. */
  accountStateMax: 1024 * 1024,
  accountStateSegmentMax: 64 * 1024,
  accountStateSegments: 256,
  /** A username with the certificate of the device that signs it. */
  signedNameMax: 2048,
  peoplePerNames: 200,
  devicesPerUser: 20,
  /** A log-in beyond it ends the one that was idle longest. */
  sessionsPerUser: 20,
  /** The account key's signed statement that a device is revoked. */
  revocationMax: 1024,
  /** Starts of a device that it may have registered without having had an answer. */
  startsNamed: 64,
  /** The sealed part of a receipt has 93 bytes. */
  receiptMax: 256,
  /** Groups of more people have no receipts: each would be told to all. */
  peopleWithReceipts: 32,
  /** The sealed sign that somebody is writing, or no longer: always as long. */
  typingSize: 49,
  /** Groups of more people don't tell who is writing: each would be told to all. */
  peopleWithTyping: 100,
  sealedNameMax: 1024,
  leaveStatementMax: 1024,
  membersPerAdd: 250,
  membersPerGroup: 1000,
  groupsPerUser: 500,
  notificationsMax: 200,
  blocksPerUser: 1000,
  /** Reports of one person that the operator has not closed. Lengths in UTF-16 code units. */
  openReportsPerUser: 20,
  reportTextMax: 1000,
  messagesPerReport: 10,
  reportedMessageMax: 4000,
  /** A sealed copy of a message: an application message's plaintext is shorter than its ciphertext. */
  historyItemMax: 128 * 1024,
  historyItemsPerRequest: 200,
  historyPerPage: 200,
  historyBytesPerUser: 256 * 1024 * 1024,
  messagesPerPage: 200,
  messagesPerPageDefault: 100,
  /**
   * Byte strings in the body of a call, and bytes of its JSON: twice what the largest has. An empty one takes a byte, and as
   * much memory and time as hundreds, so that a body of nothing else would hold the relay up for half a minute.
   */
  partsPerBody: 1024,
  partsJsonMax: 512 * 1024,
  mqttPacketMax: 256 * 1024,
  mqttReceiveMaximum: 32,
  mqttExtraSubscriptions: 20,
  /** MQTT and presence sockets of one person, on one relay. */
  connectionsPerUser: 256,
  mqttKeepAliveSeconds: 30,
  presencePingSeconds: 30,
} as const;
