import type { WireBytes } from '../codec/base64url.ts';
import type { KeyPackageSuite } from './arguments.ts';
import type { ClaimedKeyPackage, CommitSubmission, ConversationState } from './conversationsApi.ts';

export interface MemberName {
  readonly userId: string;
  readonly name: string;
}

/**
 * The part of the worker's API for changing who is in a conversation, and for the names of groups and their
 * members.
 */
export interface GroupsApi {
  /**
   * Returns the suites of which a KeyPackage can be added to a conversation, the best first: those in which one may begin
   * while this device is in none, or else the conversation's own alone. None for a conversation of a suite that devices make
   * no KeyPackages of any more.
   */
  keyPackageSuites(conversationId: string): Promise<readonly KeyPackageSuite[]>;
  /**
   * Adds people with all their devices, or this person's other devices, and removes those who left. In a
   * direct conversation it puts the other person's devices in the place of those under a former account key.
   * While the commit is pending, the same call answers it again. Errors: `policy` (only the creator's devices
   * may add others, and not before the person's word on `unvouchedIds`), `pending` (another own commit is: see {@link nextCommit}), `usage` for a device outside,
   * and as `startConversation`.
   */
  addMembers(input: {
    conversationId: string;
    keyPackages: readonly ClaimedKeyPackage[];
  }): Promise<CommitSubmission>;
  /**
   * Returns the commit that has to be submitted before anything else: the pending one, or a new one that
   * makes the changes that are due, such as removing people who left or revoked devices. Null when there is
   * none. Serves direct conversations, too.
   */
  nextCommit(conversationId: string): Promise<CommitSubmission | null>;
  /**
   * Drops the pending commit, after the relay refused it for good and the log was processed to its end. Were
   * it to appear in the log after all, this device would have to rejoin.
   */
  discardCommit(conversationId: string): Promise<ConversationState>;
  /**
   * Signs this person's leave statement for DELETE /group/{id}/leave. It is valid until this device's next
   * commit in the group. Errors: `pending` (submit {@link nextCommit}, process the log, and ask again; also
   * for a device that has never committed in the group and has to once before), `usage` outside.
   */
  leaveStatement(conversationId: string): Promise<WireBytes>;
  /**
   * Signs with this device's key that the person deletes or leaves a group, for the relay, which takes it with DELETE
   * /group/{id} and DELETE /group/{id}/leave, once by a nonce of POST /proof-nonce. A device that knows the group's creator signs nothing but what is that
   * person's to do (`policy`); one outside knows none, and leaves it to the relay.
   */
  groupEnding(conversationId: string, ending: 'delete' | 'leave', nonce: WireBytes): Promise<WireBytes>;
  /**
   * Takes in the leave statements that the relay has. Valid ones are kept: their people are in `leavingIds`
   * then, and no message is encrypted before a commit has removed them. Others are ignored, and so not in
   * `leavingIds`: give one of an epoch that this device hasn't reached again once it has.
   */
  setLeaveStatements(
    conversationId: string,
    statements: readonly { userId: string; statement: WireBytes }[],
  ): Promise<ConversationState>;
  /**
   * Has the next commit remove the members in `unvouchedIds`, since the person, who has created the group, says that they
   * have not added them. Errors: `policy` for anybody else.
   */
  removeUnvouched(conversationId: string): Promise<ConversationState>;
  /**
   * Returns whether a leave statement is this person's own, signed by one of their devices in the group as
   * this device knows it. False on a device that has lost the group's tree, since it can't tell.
   */
  hasLeft(conversationId: string, statement: WireBytes): Promise<boolean>;
  /**
   * Takes in the sealed name that the relay has. One that can't be opened here (of another epoch, or forged)
   * is ignored. Once the relay has the known name in the current epoch, sealing it is no longer due.
   */
  setGroupName(input: {
    conversationId: string;
    sealedName: WireBytes;
    epoch: number;
  }): Promise<ConversationState>;
  /**
   * Seals the name under a key of the current epoch, for PUT /group/{id}/name. Null where that isn't due, or
   * the name not known.
   */
  sealGroupName(conversationId: string): Promise<{ epoch: number; sealedName: WireBytes } | null>;
  /** Lists the names last known of everybody who is or was in a group on this browser. */
  memberNames(): Promise<MemberName[]>;
  /**
   * Keeps names of a group's members, beside those of former members, until the conversation is forgotten.
   */
  rememberMemberNames(conversationId: string, names: readonly MemberName[]): Promise<void>;
  /**
   * Erases a conversation from this browser with its keys, messages and outbox, for a group that was left or
   * deleted.
   */
  forgetConversation(conversationId: string): Promise<void>;
}
