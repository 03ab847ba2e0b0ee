import type { LogEntry } from '../../../contract/index.ts';
import type { Examples } from '../example.ts';
import {
  aino,
  ciphertext,
  commit,
  deviceSignature,
  direct,
  eero,
  grouped,
  groupInfo,
  ids,
  proofNonce,
  sealed,
  sent,
  statement,
  time,
} from './values.ts';

const entry: LogEntry = {
  id: ids.message,
  conversationId: direct,
  seq: 7,
  epoch: 3,
  kind: 'application',
  sender_id: ids.aino,
  sender_device_id: ids.device,
  receiver_id: ids.eero,
  group_id: null,
  content: ciphertext,
  timestamp: time,
  created_at: time,
  delivered: false,
  is_read: false,
};
/** The digest of an entry. */
const digest = Buffer.alloc(32, 7).toString('base64url');
const receipt = { epoch: 3, position: 7, sealed, signature: commit.signature };
const message = { messageId: ids.message, epoch: 3, content: ciphertext };

export const conversations = {
  listConversations: {
    response: [{ conversationId: direct, epoch: 3, lastSeq: 7, readSeq: 6, peerReadSeq: null }],
  },
  listUserMessages: { params: { id: ids.eero }, query: { after: 6, limit: 100 }, response: [entry] },
  listDigests: {
    params: { conversationId: direct },
    query: { after: 5, before: 7 },
    response: [{ seq: 6, digest }],
  },
  sendUserMessage: { params: { id: ids.eero }, body: message, response: sent },
  markDelivered: { params: { id: ids.message } },
  putReceipt: { params: { conversationId: direct }, body: receipt },
  listReceipts: {
    params: { conversationId: direct },
    response: [{ userId: ids.eero, deviceId: ids.device, ...receipt }],
  },
  submitCommit: { params: { conversationId: direct }, body: commit, response: sent },
  putTreeNodes: { params: { conversationId: grouped }, body: new Uint8Array(6) },
  getTree: { params: { conversationId: grouped, treeHash: digest }, response: new Uint8Array(6) },
  getGroupInfo: { params: { conversationId: direct }, response: { epoch: 3, groupInfo } },
  listWelcomes: {
    response: [{ id: ids.welcome, conversationId: direct, epoch: 4, seq: 7, welcome: ciphertext }],
  },
  deleteWelcome: { params: { id: ids.welcome } },
} satisfies Partial<Examples>;

const members = [aino, eero].map(({ id, username }) => ({ id, user: { id, username } }));
const summary = {
  id: ids.group,
  name: sealed,
  name_epoch: 3,
  creator_id: ids.aino,
  member_count: members.length,
  created_at: time,
};

export const groups = {
  listGroups: { response: [summary] },
  createGroup: { body: { groupId: ids.group, sealedName: sealed }, response: { id: ids.group } },
  getGroup: { params: { id: ids.group }, response: { ...summary, members, departed: [], last_seq: 1 } },
  sealGroupName: { params: { id: ids.group }, body: { epoch: 3, sealedName: sealed } },
  listGroupMembers: { params: { id: ids.group }, response: members },
  addGroupMember: {
    params: { id: ids.group },
    body: { ...commit, user_id: ids.eero, sealedName: sealed },
    response: { ...sent, members },
  },
  leaveGroup: {
    params: { id: ids.group },
    body: { nonce: proofNonce, signature: deviceSignature, statement },
  },
  getLeaveStatement: { params: { id: ids.group }, response: { statement } },
  deleteGroup: { params: { id: ids.group }, body: { nonce: proofNonce, signature: deviceSignature } },
  listGroupInvitations: {
    response: [
      {
        group_id: ids.group,
        creator: { id: ids.aino, username: aino.username },
        user: { id: ids.eero, username: eero.username },
        member_count: 1,
        accepted: false,
        created_at: time,
      },
    ],
  },
  inviteGroupMembers: {
    params: { id: ids.group },
    body: { user_ids: [ids.eero] },
    response: { asked: [ids.eero] },
  },
  withdrawGroupInvitation: { params: { id: ids.group }, body: { user_id: ids.eero } },
  acceptGroupInvitation: { params: { id: ids.group } },
  declineGroupInvitation: { params: { id: ids.group } },
  listGroupMessages: {
    params: { id: ids.group },
    query: { after: 6, limit: 100 },
    response: [{ ...entry, conversationId: grouped, receiver_id: null, group_id: ids.group }],
  },
  sendGroupMessage: { params: { id: ids.group }, body: message, response: sent },
} satisfies Partial<Examples>;
