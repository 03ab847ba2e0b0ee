import type { WireBytes } from '../codec/base64url.ts';
import type { ConversationEvent } from './conversationEvent.ts';
import type { CryptoApiErrorCode } from './errors.ts';
import type { MessageContent, Words } from './messageContent.ts';
import type { SendFailure } from './sendFailures.ts';

/** The message that another one answers, as it is now. */
export interface Quote {
  /** Null where this device doesn't have it, or the person has deleted it here. */
  readonly message: Pick<MessageView, 'messageId' | 'senderId' | 'content' | 'timer'> | null;
  /** With null: its time was over. */
  readonly hasDisappeared?: true;
}

/** An emoji that people have reacted with, in the order in which they did. */
export interface Reaction {
  readonly emoji: string;
  /** No id twice. */
  readonly userIds: readonly string[];
}

/** An own change of a message that the log doesn't have yet. */
export interface UnsentChange {
  /** Its own message id, by which it is retried and discarded. */
  readonly messageId: string;
  readonly kind: 'edit' | 'deletion' | 'reaction';
  readonly status: 'sending' | 'failed';
  /** With `failed`: the code of the error that stopped it. */
  readonly failure?: SendFailure;
}

/** A message as it was written first, or after an edit. */
export interface MessageVersion extends Words {
  /** RFC 3339: the relay's time, or the sender's of one that waits in the outbox. */
  readonly timestamp: string;
}

export interface MessageView {
  readonly conversationId: string;
  readonly messageId: string;
  /** Position in the log; null while it waits in the outbox without an acknowledgement. */
  readonly seq: number | null;
  readonly senderId: string;
  readonly senderDeviceId: string;
  /** RFC 3339: the relay's time once the message has one, the sender's until then. */
  readonly timestamp: string;
  /**
   * The sender's clock (RFC 3339), as it says inside the encryption; absent from messages that say none. It is believed where it
   * is within five minutes of the relay's, and not before what that device had said last.
   */
  readonly clock?: { readonly sentAt: string; readonly isBelieved: boolean };
  /** `received` for messages of other people and of the person's other devices. */
  readonly status: 'sending' | 'sent' | 'failed' | 'received';
  /** With `failed`: the code of the error that stopped it. */
  readonly failure?: SendFailure;
  /** With its author's edits, those that the log doesn't have yet too. */
  readonly content: MessageContent;
  /** Seconds after which it disappears, once it was read, or sent. Absent where it stays. */
  readonly timer?: number;
  /** Its sender has passed it on from another conversation; whose it was isn't said. */
  readonly isForwarded?: true;
  /** Its author has edited it: see {@link ConversationsApi.messageVersions}. */
  readonly isEdited?: true;
  readonly quote?: Quote;
  /** Own ones that the log doesn't have yet are among them. Absent where there are none. */
  readonly reactions?: readonly Reaction[];
  /** Absent where there are none. */
  readonly unsentChanges?: readonly UnsentChange[];
  /** It is no message, but a change of one that waits in the outbox: it is shown where that message is, and not by itself. */
  readonly isChange?: true;
}

/** How far a person has received and read a conversation, by the receipts of their devices. */
export interface PersonReceipt {
  readonly userId: string;
  readonly deliveredSeq: number;
  readonly readSeq: number;
}

export interface ConversationState {
  readonly conversationId: string;
  /**
   * `joined`: can read and write. `starting`: an own commit waits for its place in the log. `outside`: this
   * device is not a member yet (use a Welcome, or join by external commit). `forked`: must rejoin by external
   * commit.
   */
  readonly status: 'joined' | 'starting' | 'outside' | 'forked';
  readonly epoch: number;
  /** All log entries up to and including this one have been processed. */
  readonly lastSeq: number;
  /** The position of the entry that let this device in; it can't decrypt older ones. 0 where it started the conversation. */
  readonly joinedSeq: number;
  /** The position up to which this person has read, on any device. */
  readonly readSeq: number;
  /** The position up to which they have read on this one. */
  readonly readHere: number;
  /** How far others have received and read it, by receipts that have been checked here. */
  readonly receipts: readonly PersonReceipt[];
  /** There is more to say than the relay's receipt of this device says: see makeReceipt. */
  readonly receiptDue: boolean;
  /** The number of messages of other people after readSeq, counted up to 100. */
  readonly unread: number;
  /** The newest message, for lists; null among the person's own devices. */
  readonly lastMessage: MessageView | null;
  /** The members of the MLS group, by person. */
  readonly members: readonly { readonly userId: string; readonly deviceIds: readonly string[] }[];
  /**
   * RFC 3339: the relay's time of the entry at joinedSeq, or of the one that first let this device in if it
   * has been added again since ("you can read messages since"). Null outside, and until that entry was seen:
   * after a Welcome, give it to processEntries once with those that follow.
   */
  readonly joinedAt: string | null;
  /** With `forked`: the code with which the commit was refused. */
  readonly refusal?: CryptoApiErrorCode;
  /**
   * The position after which this device needs the digests of the log, up to joinedSeq, to take its running hash on from
   * where the member who let it in had read: see linkLog. Null when it has them, or can do without.
   */
  readonly linkFrom: number | null;
  /** Seconds after which new messages disappear, as the members have agreed; 0 for never. */
  readonly timer: number;
  /** Messages that the members have pinned, the one that was pinned last first: none that was deleted, is over, or isn't here. */
  readonly pinned: readonly MessageView[];
  /** As many are pinned as can be, and none of them is gone: the next one takes the place of the one that was pinned first. */
  readonly isPinnedFull: boolean;
  /** A direct conversation in which something was found missing or different: nothing is sent before {@link sendAnyway}. */
  readonly isDoubted: boolean;
  /** Null for direct conversations, and for a group that this device was never in. */
  readonly group: GroupState | null;
}

/** The facts of a group that its members know from its keys, whatever the relay says. */
export interface GroupState {
  /** Null until a sealed name could be opened; it never changes after that. */
  readonly name: string | null;
  /** The person who created the group, as its keys bind it. */
  readonly creatorId: string;
  /** People with a valid leave statement who are still in `members`: the next commit removes them. */
  readonly leavingIds: readonly string[];
  /** Members who have no device in the group since theirs were revoked: the creator's devices can add them again. */
  readonly withoutDeviceIds: readonly string[];
  /**
   * Members whom this device found there as it came back, with nobody whom it can verify having added them: messages wait until
   * the person sends them anyway ({@link OutboxApi.sendAnyway}), or a device of the creator vouches for them. The creator
   * themself can have them removed ({@link GroupsApi.removeUnvouched}).
   */
  readonly unvouchedIds: readonly string[];
  /**
   * The next commit removes who has left; at the creator's devices also who was added against the rules, which the others wait
   * for.
   */
  readonly removalDue: boolean;
  /**
   * A device has joined that can't open the name as the relay has it: see {@link GroupsApi.sealGroupName}.
   */
  readonly nameDue: boolean;
}

/** A receipt of this device's, for the relay. */
export interface OwnReceipt {
  readonly epoch: number;
  readonly position: number;
  readonly sealed: WireBytes;
  readonly signature: WireBytes;
}

/** The relay's rules of when it deletes, asked for after the entries that it says it has deleted. */
export interface RetentionRules {
  /** The fewest days for which it has lately kept what not every device had. */
  readonly days: number;
  /** This device's receipt there, since the relay may delete what every device has acknowledged. */
  readonly ownReceipt: OwnReceipt | null;
}

/** A KeyPackage that the relay handed out, with the device that the relay names as its owner. */
export interface ClaimedKeyPackage {
  readonly userId: string;
  readonly deviceId: string;
  readonly keyPackage: WireBytes;
}

/**
 * A commit to submit. It takes effect here when the log is processed up to it, and is dropped if another one
 * came first.
 */
export interface CommitSubmission {
  readonly conversationId: string;
  /** The epoch that it ends, which the relay compares with the current one. */
  readonly epoch: number;
  /** The device's, by which the relay takes the commit. */
  readonly signature: WireBytes;
  readonly commit: WireBytes;
  readonly welcomes: readonly { readonly deviceIds: readonly string[]; readonly welcome: WireBytes }[];
  readonly groupInfo: WireBytes;
  /**
   * The tree that GroupInfo and Welcomes name, and its nodes that the commit changes, for PUT /conversations/{id}/tree-nodes
   * before it, one call each. Null where the tree is inside.
   */
  readonly tree: { readonly hash: WireBytes; readonly parts: readonly WireBytes[] } | null;
  /**
   * The group's name, sealed under a key of the epoch that the commit starts. Null in direct conversations,
   * or if unknown here.
   */
  readonly sealedName: WireBytes | null;
  /** People whom it adds to a group, this person excepted. With any, it goes to POST /group/{id}/add. */
  readonly addedIds: readonly string[];
  /** People who left and whose leaves it removes. */
  readonly removedIds: readonly string[];
}

/** The fields of the relay's log entry that the worker needs. */
export interface LogEntryInput {
  readonly id: string;
  readonly seq: number;
  readonly epoch: number;
  readonly kind: 'application' | 'commit';
  readonly sender_id: string;
  readonly sender_device_id: string;
  readonly content: WireBytes;
  readonly timestamp: string;
  /** The running hash takes this digest in place of an entry whose content or sender the relay doesn't have any more. */
  readonly digest?: WireBytes | undefined;
  /** The content was deleted because nobody needed it any more, or it was too old. */
  readonly expired?: boolean | undefined;
}

/**
 * A page: the newest `limit` messages below the position `before` (or of all); with `after`, the oldest above
 * that one.
 */
export interface MessagePage {
  readonly before?: number;
  readonly after?: number;
  readonly limit: number;
}

/** The word of one own device to the others: how far the person has read conversations, and drafts, empty ones too. */
export interface OwnState {
  readonly reads: readonly { readonly conversationId: string; readonly seq: number }[];
  readonly drafts: readonly { readonly conversationId: string; readonly text: string }[];
}

/** News of another own device. */
export interface ToldState extends OwnState {
  /** Other conversations are muted than before: {@link ConversationsApi.mutes} says which. */
  readonly mutes?: true;
}

/** A conversation that makes no noise for a while, on any of the person's devices. */
export interface Mute {
  readonly conversationId: string;
  /** Milliseconds since the Unix epoch: the latest that there is for good, 0 for no longer. */
  readonly until: number;
  /** A mention of the person is told all the same. */
  readonly mentions: boolean;
}

export interface ProcessResult {
  /**
   * Every message of the given entries, in log order; those processed before are answered from the cache. Of what
   * the person's own devices tell each other, the notes. Reactions, edits and deletions are no messages: those that they
   * change are here in their stead.
   */
  readonly messages: readonly MessageView[];
  /** The events of those entries that are new here. */
  readonly events: readonly ConversationEvent[];
  readonly state: ConversationState;
  /** Present if the log holds what this device's leaf has sent from another place: nothing is encrypted here any more. */
  readonly isCopied?: true;
  /** News of other own devices. */
  readonly ownState?: ToldState;
}

export interface ConversationsApi {
  conversations(): Promise<ConversationState[]>;
  conversation(conversationId: string): Promise<ConversationState>;
  /**
   * Creates the first commit of a conversation, which adds the devices given (every device of everybody in it
   * but this one; for a group whose creator has no other device, none; for `self:<user id>` this person's, or none). A group needs a name, and has this
   * person as its creator; POST /group may take the submission's `sealedName`. While an own start is pending,
   * answers that one again. It is in the suite that all the KeyPackages are of. Errors: `identity-changed`, `invalid-credential` (a device whose certificate
   * doesn't hold), `invalid-key-package`, `invalid-leaf` (a device too old for groups), `usage`.
   */
  startConversation(input: {
    conversationId: string;
    keyPackages: readonly ClaimedKeyPackage[];
    /** 1 to 100 characters after trimming. */
    group?: { name: string };
  }): Promise<CommitSubmission>;
  /**
   * Joins the conversation that this device was added to. A member stays as it is, unless it was removed and
   * added again and no log showed it that: a Welcome to a later epoch does. Errors: `missing-key` (the
   * Welcome is for none of this device's KeyPackages), `wrong-group`, `wrong-epoch`, `policy` (a group to
   * which neither its creator nor this person added the device, or with another creator than before),
   * `identity-changed`, `missing-tree` (nothing is used up: it can be tried again), and crypto-core's for a broken one.
   * @param input.tree what the relay has as the tree that the Welcome names
   */
  joinByWelcome(input: {
    conversationId: string;
    epoch: number;
    seq: number;
    welcome: WireBytes;
    tree?: WireBytes | null;
  }): Promise<ConversationState>;
  /**
   * Joins from outside, or rejoins after a fork in place of the old leaf. The device is a member once the log
   * has been processed from that commit on. Errors: `usage` for a member, and as {@link joinByWelcome};
   * `policy` for a group that holds no device of this person, or holds somebody whose adding was refused here
   * (ask again later: its creator's devices remove them).
   */
  joinByExternalCommit(input: {
    conversationId: string;
    epoch: number;
    groupInfo: WireBytes;
    tree?: WireBytes | null;
  }): Promise<CommitSubmission>;
  /**
   * Returns all nodes of the tree of the pending commit, for a relay that lacks some; empty where none is pending or the tree is
   * inside.
   */
  pendingTree(conversationId: string): Promise<readonly WireBytes[]>;
  /**
   * Processes the next entries of the log, in order. A bad entry becomes a message with its reason and never
   * stops those after it. A device outside leaves them alone, unless its own external commit is among them.
   * With `retention`, entries that the relay can't have deleted yet are `withheld`.
   * Errors: `gap`, whose detail is the position that is missing (nothing was processed then; after a join, call linkLog
   * first), `usage` for entries out of order.
   */
  processEntries(
    conversationId: string,
    entries: readonly LogEntryInput[],
    retention?: RetentionRules,
  ): Promise<ProcessResult>;
  /**
   * Takes the running hash on by digests after `linkFrom`, ascending; those of another place are left alone. The event is
   * there where they differ from what the member who let this device in, or it itself before, had read.
   */
  linkLog(
    conversationId: string,
    digests: readonly { readonly seq: number; readonly digest: WireBytes }[],
  ): Promise<ProcessResult>;
  /** Reads a page of the message cache, ascending; of `self:<user id>` the notes, and what may have been one. */
  messages(conversationId: string, page: MessagePage): Promise<MessageView[]>;
  /**
   * Returns an edited message as it was before, oldest first, and as it is now as the last one. Empty where it was deleted.
   * Errors: `unknown-message`.
   */
  messageVersions(conversationId: string, messageId: string): Promise<MessageVersion[]>;
  /**
   * Deletes a message for this person on this device alone: its text, its versions and its place on screen. Errors:
   * `unknown-message`, `usage` for one in the outbox.
   */
  deleteMessageHere(conversationId: string, messageId: string): Promise<ConversationState>;
  /** Counts the messages that {@link messages} reads. */
  messageCount(conversationId: string): Promise<number>;
  /** Lists the newest events of a conversation that this device has processed, ascending: at most 1,000. */
  events(conversationId: string): Promise<ConversationEvent[]>;
  /** @param where on this device, or by the relay's word on another one: receipts tell of the former alone */
  setReadPosition(
    conversationId: string,
    where: 'here' | 'elsewhere',
    seq: number,
  ): Promise<ConversationState>;
  /**
   * Notes what the person has read and drafted here, for a message to their other devices in `self:<user id>`. It is one
   * message, however often this is called until it is encrypted. Drafts that no message could carry stay here. Errors:
   * `usage`.
   * @returns whether such a message waits to be sent: none does where there is no other device, or nothing to tell
   */
  tellOwnDevices(state: OwnState): Promise<boolean>;
  /** The conversations that are muted now. */
  mutes(): Promise<Mute[]>;
  /** Mutes a conversation here, in the place of what was said of it before; {@link tellOwnDevices} tells the other devices. */
  setMute(mute: Mute): Promise<void>;
}
