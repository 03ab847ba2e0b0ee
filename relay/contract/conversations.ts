import * as z from 'zod/mini';
import { limits } from './limits.ts';
import {
  Bytes,
  base64Url,
  ConversationId,
  Epoch,
  Id,
  QueryInt,
  Seq,
  StartTag,
  Timestamp,
} from './primitives.ts';
import { defineRoute } from './route.ts';

const Content = base64Url(limits.contentMax);
const GroupInfo = base64Url(limits.groupInfoMax);
/** SHA-256 over an entry: docs/PROTOCOL.md, section 10. */
const Digest = base64Url(32, 32);
/** The hash of a ratchet tree's root (RFC 9420 section 7.8). */
const TreeHash = Digest;
const ConversationParams = z.object({ conversationId: ConversationId });
const IdParams = z.object({ id: Id });

export const ConversationSummary = z
  .object({
    conversationId: ConversationId,
    epoch: Epoch,
    lastSeq: Seq,
    /** The caller's own read position, from any of their devices; 0 before the first time. */
    readSeq: Seq,
    /** Null: what others have read is in their receipts. Clients from before those need the field. */
    peerReadSeq: z.null(),
  })
  .register(z.globalRegistry, { id: 'ConversationSummary' });
export type ConversationSummary = z.infer<typeof ConversationSummary>;

export const listConversations = defineRoute({
  method: 'GET',
  paths: ['/conversations'],
  access: 'session',
  status: 200,
  response: z.array(ConversationSummary),
  errors: [],
});

/** One entry of a conversation's log. `content` is an MLSMessage; the relay can't read it. */
export const LogEntry = z
  .object({
    id: Id,
    conversationId: ConversationId,
    seq: Seq,
    /** Application: the epoch it was encrypted in. Commit: the epoch it ends. */
    epoch: Epoch,
    kind: z.enum(['application', 'commit']),
    sender_id: Id,
    sender_device_id: Id,
    receiver_id: z.nullable(Id),
    group_id: z.nullable(Id),
    /**
     * Empty, with a digest, once nobody needs it any more, it is too old, or its sender has deleted their account: the
     * position stays, so that the log keeps no gap.
     */
    content: base64Url(limits.commitMax, 0),
    /** When the relay stored it. */
    timestamp: Timestamp,
    created_at: Timestamp,
    /** The caller has read it on one of their devices. What others have read is in their receipts. */
    delivered: z.boolean(),
    is_read: z.boolean(),
    /** The digest of an entry whose content or sender is gone, as it was, so that the running hash over the log holds. */
    digest: z.optional(Digest),
    /** With an empty `content`: it was deleted because nobody needed it any more, or it was too old. */
    expired: z.optional(z.boolean()),
  })
  .register(z.globalRegistry, { id: 'LogEntry' });
export type LogEntry = z.infer<typeof LogEntry>;

/** The part of an entry that may be large. */
export const logParts = ['content'] as const;

/**
 * `after` lists upwards from a position, `before` the newest below one; neither: the newest. Always ascending by seq.
 * A page of large entries ends before `limit`, so only an empty page, or the conversation's lastSeq, is the end.
 */
export const MessagePage = z.object({
  after: z.optional(QueryInt.check(z.minimum(0))),
  before: z.optional(QueryInt.check(z.minimum(1))),
  limit: z._default(
    QueryInt.check(z.minimum(1), z.maximum(limits.messagesPerPage)),
    limits.messagesPerPageDefault,
  ),
});

export const listUserMessages = defineRoute({
  method: 'GET',
  paths: ['/messages/user/{id}'],
  access: 'session',
  params: IdParams,
  query: MessagePage,
  status: 200,
  response: z.array(LogEntry),
  responseParts: logParts,
  errors: ['not-found'],
});

export const listDigests = defineRoute({
  method: 'GET',
  paths: ['/conversations/{conversationId}/digests'],
  access: 'session',
  params: ConversationParams,
  query: z.object({
    after: QueryInt.check(z.minimum(0)),
    before: QueryInt.check(z.minimum(1)),
  }),
  status: 200,
  response: z.array(z.object({ seq: Seq, digest: Digest })),
  errors: ['not-found'],
});

/** An application message as a client hands it over. */
export const MessageFields = z.object({
  messageId: Id,
  epoch: Epoch,
  content: Content,
  /** The tag of the start of the device; a device that has registered one names it with all that it sends. */
  start: z.optional(StartTag),
});

export const SentMessage = z
  .object({ id: Id, seq: Seq, epoch: Epoch, timestamp: Timestamp })
  .register(z.globalRegistry, { id: 'SentMessage' });
export type SentMessage = z.infer<typeof SentMessage>;

export const sendUserMessage = defineRoute({
  method: 'POST',
  paths: ['/messages/user/{id}'],
  access: 'device',
  params: IdParams,
  body: MessageFields,
  status: 201,
  response: SentMessage,
  errors: ['not-found', 'not-a-contact', 'stale-epoch', 'message-id-taken', 'another-start', 'quota'],
  bodyLimit: 256 * 1024,
});

export const markDelivered = defineRoute({
  method: 'PUT',
  paths: ['/messages/{id}/delivered', '/messages/{id}/read'],
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});

/** A commit with what comes of it. */
export const CommitFields = z.object({
  epoch: Epoch,
  commit: base64Url(limits.commitMax),
  /**
   * The device's, over {uint8 version = 1, opaque conversationId<V>, uint64 epoch, opaque SHA-256(commit)<V>, opaque
   * SHA-256(groupInfo)<V>} by SignWithLabel of RFC 9420 (section 5.1.2) with `SinettiSubmittedCommit`: a session alone
   * changes no conversation.
   */
  signature: base64Url(64, 64),
  /** As with a message. */
  start: z.optional(StartTag),
  /** Each serves every device it lists. */
  welcomes: z
    .array(
      z.object({
        deviceIds: z.array(Id).check(z.minLength(1), z.maxLength(1000)),
        welcome: base64Url(limits.welcomeMax),
      }),
    )
    .check(z.maxLength(limits.welcomesPerCommit)),
  /** GroupInfo of the epoch this commit starts, for external commits. */
  groupInfo: GroupInfo,
  /** The tree that GroupInfo and Welcomes name, where it isn't in them. Its nodes have been put before; groups only. */
  treeHash: z.optional(TreeHash),
  /** The group's name, sealed again under a key of the epoch this commit starts. Direct conversations have none. */
  sealedName: z.optional(base64Url(limits.sealedNameMax)),
  /**
   * People who left a group, and whose leaves the commit removes: the members need to hear of them no more.
   */
  removed: z.optional(z.array(Id).check(z.maxLength(limits.membersPerGroup))),
});

export const commitParts = ['commit', 'welcome', 'groupInfo'] as const;

export const submitCommit = defineRoute({
  method: 'POST',
  paths: ['/conversations/{conversationId}/commits'],
  access: 'device',
  params: ConversationParams,
  body: CommitFields,
  bodyParts: commitParts,
  status: 201,
  response: z.object({ id: Id, seq: Seq, epoch: Epoch, timestamp: Timestamp }),
  errors: [
    'forbidden',
    'not-found',
    'not-a-contact',
    'stale-epoch',
    'another-start',
    'missing-tree',
    'quota',
  ],
  bodyLimit: 12 * 1024 * 1024,
});

/**
 * Nodes of a group's ratchet tree: each `opaque node<V>` of RFC 9420 (section 2.1.2) with a TreeHashInput in it (section 7.8),
 * children before their parents, or in an earlier call.
 */
export const putTreeNodes = defineRoute({
  method: 'PUT',
  paths: ['/conversations/{conversationId}/tree-nodes'],
  access: 'device',
  params: ConversationParams,
  body: Bytes,
  status: 204,
  errors: ['not-found', 'missing-tree', 'quota'],
  bodyLimit: limits.treeNodesPerRequest,
});

/** The tree below a root that a GroupInfo or a Welcome names, as a ratchet_tree extension has it (section 12.4.3.3). */
export const getTree = defineRoute({
  method: 'GET',
  paths: ['/conversations/{conversationId}/trees/{treeHash}'],
  access: 'device',
  params: z.object({ conversationId: ConversationId, treeHash: TreeHash }),
  status: 200,
  response: Bytes,
  errors: ['not-found'],
});

export const getGroupInfo = defineRoute({
  method: 'GET',
  paths: ['/conversations/{conversationId}/group-info'],
  access: 'device',
  params: ConversationParams,
  status: 200,
  response: z.object({ epoch: Epoch, groupInfo: GroupInfo, treeHash: z.optional(TreeHash) }),
  responseParts: ['groupInfo'],
  errors: ['not-found'],
});

export const WelcomeItem = z
  .object({
    id: Id,
    conversationId: ConversationId,
    /** The epoch it lets this device into, and the log position of the commit that added it. */
    epoch: Epoch,
    seq: Seq,
    welcome: base64Url(limits.welcomeMax),
    /** The tree that it names, where it isn't in it. */
    treeHash: z.optional(TreeHash),
  })
  .register(z.globalRegistry, { id: 'WelcomeItem' });
export type WelcomeItem = z.infer<typeof WelcomeItem>;

export const listWelcomes = defineRoute({
  method: 'GET',
  paths: ['/welcomes'],
  access: 'device',
  status: 200,
  response: z.array(WelcomeItem),
  responseParts: ['welcome'],
  errors: [],
});

export const deleteWelcome = defineRoute({
  method: 'DELETE',
  paths: ['/welcomes/{id}'],
  access: 'device',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});
