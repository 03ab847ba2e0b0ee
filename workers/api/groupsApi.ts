import type { ClaimedKeyPackage, CommitSubmission, ConversationState, WireBytes } from './cryptoApi.ts';

export interface MemberName {
  readonly userId: string;
  readonly name: string;
}

/** Who comes into conversations and who leaves them, and what groups and their members are called. */
export interface GroupsApi {
  /**
   * Adds people with all their devices, or this person's other devices, and removes who has left. In a direct
   * conversation: the other one's devices in the place of those under a former account key. The same again while
   * it waits is answered with the same commit. Errors: `policy` (others may be added by the creator's devices only),
   * `pending` (another own commit waits: see {@link nextCommit}), `usage` for a device outside, and as
   * `startConversation`.
   */
  addMembers(input: {
    conversationId: string;
    keyPackages: readonly ClaimedKeyPackage[];
  }): Promise<CommitSubmission>;
  /**
   * The commit that has to be submitted before anything else: an own one that waits, else one that removes who has
   * left. Null when there is none. Also for direct conversations.
   */
  nextCommit(conversationId: string): Promise<CommitSubmission | null>;
  /**
   * Drops an own commit that waits, after the relay refused it for good and the log was processed to its end. Were it
   * to appear in the log after all, this device would have to rejoin.
   */
  discardCommit(conversationId: string): Promise<ConversationState>;
  /**
   * This person's signed word that they leave the group, for DELETE /group/{id}/leave. It holds until this device's
   * next commit in the group. Errors: `pending` (submit {@link nextCommit}, process the log, and ask again; also for a
   * device that has never committed in the group: it has to once before), `usage` outside.
   */
  leaveStatement(conversationId: string): Promise<WireBytes>;
  /**
   * What the relay says of people who left. Kept are the statements that hold: those people are in `leavingIds` then,
   * and no message is made before a commit has removed them. Others are ignored, and so not in `leavingIds`: one of an
   * epoch that this device hasn't reached is to be given again once it has.
   */
  setLeaveStatements(
    conversationId: string,
    statements: readonly { userId: string; statement: WireBytes }[],
  ): Promise<ConversationState>;
  /**
   * Whether a statement is this person's own word, by one of their devices, that they left the group as this device
   * knows it. Not for one that has lost the group's tree: it can't tell.
   */
  hasLeft(conversationId: string, statement: WireBytes): Promise<boolean>;
  /**
   * The sealed name as the relay has it. One that can't be opened here (of another epoch, or forged) is ignored; the
   * known one in the current epoch is no longer due.
   */
  setGroupName(input: {
    conversationId: string;
    sealedName: WireBytes;
    epoch: number;
  }): Promise<ConversationState>;
  /** The name under a key of the current epoch, for PUT /group/{id}/name. Null where it isn't due, or not known. */
  sealGroupName(conversationId: string): Promise<{ epoch: number; sealedName: WireBytes } | null>;
  /** The names last known of everybody who is or was in a group of this browser's. */
  memberNames(): Promise<MemberName[]>;
  /** Keeps names of a group's members, beside those of former ones, until the conversation is forgotten. */
  rememberMemberNames(conversationId: string, names: readonly MemberName[]): Promise<void>;
  /** Erases all of a conversation from this browser: keys, messages, outbox. For a group that was left or deleted. */
  forgetConversation(conversationId: string): Promise<void>;
}
