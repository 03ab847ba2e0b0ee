/** An application message as REST and MQTT hand it over, checked against its schema. */
export interface MessageContent {
  /** The sender's UUID for it, and the idempotency key. */
  readonly messageId: string;
  /** The MLS epoch it was encrypted in. */
  readonly epoch: number;
  /** base64url of an MLSMessage. */
  readonly content: string;
  /** The tag of the start that the device names. */
  readonly start?: string | undefined;
}

export interface NewMessage extends MessageContent {
  readonly recipientId: string;
}

export interface NewGroupMessage extends MessageContent {
  readonly groupId: string;
}

/** A commit with what comes of it; all byte strings are base64url. */
export interface NewCommit {
  /** The epoch it ends; 0 starts the conversation. */
  readonly epoch: number;
  readonly commit: string;
  readonly welcomes: readonly { readonly deviceIds: readonly string[]; readonly welcome: string }[];
  /** GroupInfo of the epoch it starts. */
  readonly groupInfo: string;
  /** The tree that GroupInfo and Welcomes name, where it isn't in them; groups only. */
  readonly treeHash?: string | undefined;
  /** The sending device's, over all of the above but the Welcomes and the tree, which the GroupInfo names. */
  readonly signature: string;
  /** The tag of the start that the device names. */
  readonly start?: string | undefined;
  /** The group's name under a key of the epoch it starts; groups only. */
  readonly sealedName?: string | undefined;
  /** People who left and whose leaves it removes; groups only. */
  readonly removed?: readonly string[] | undefined;
}
