import * as about from './about.ts';
import * as account from './account.ts';
import * as accountChanges from './accountChanges.ts';
import * as accountState from './accountState.ts';
import * as blocks from './blocks.ts';
import * as contacts from './contacts.ts';
import * as conversations from './conversations.ts';
import * as devices from './devices.ts';
import * as groupInvitations from './groupInvitations.ts';
import * as groups from './groups.ts';
import * as history from './history.ts';
import * as movingOn from './movingOn.ts';
import * as names from './names.ts';
import * as notifications from './notifications.ts';
import * as proofs from './proofs.ts';
import * as receipts from './receipts.ts';
import * as reports from './reports.ts';
import * as sessions from './sessions.ts';
import * as storage from './storage.ts';

export * from './about.ts';
export * from './account.ts';
export * from './accountChanges.ts';
export * from './accountState.ts';
export * from './blocks.ts';
export * from './contacts.ts';
export * from './conversations.ts';
export * from './devices.ts';
export * from './errors.ts';
export * from './groupInvitations.ts';
export * from './groups.ts';
export * from './history.ts';
export * from './limits.ts';
export * from './movingOn.ts';
export * from './names.ts';
export * from './notifications.ts';
export * from './parts.ts';
export * from './primitives.ts';
export * from './proofs.ts';
export * from './realtime.ts';
export * from './receipts.ts';
export * from './reports.ts';
export * from './route.ts';
export * from './sessions.ts';
export * from './storage.ts';
export * from './typing.ts';
export * from './vectors.ts';

/** Every call of the contract by its name. */
export const routes = {
  getVersion: about.getVersion,
  register: account.register,
  login: account.login,
  logout: account.logout,
  authParams: account.authParams,
  recover: account.recover,
  profile: account.profile,
  updateProfile: account.updateProfile,
  changePassword: account.changePassword,
  moveOn: movingOn.moveOn,
  accountData: account.accountData,
  putDiscoverability: account.putDiscoverability,
  putAskedFirst: groupInvitations.putAskedFirst,
  deleteAccount: account.deleteAccount,
  listAccountChanges: accountChanges.listAccountChanges,
  createProofNonce: proofs.createProofNonce,
  getVault: account.getVault,
  getVaultWraps: account.getVaultWraps,
  getFormerVault: account.getFormerVault,
  putVault: account.putVault,
  getAccountState: accountState.getAccountState,
  putAccountState: accountState.putAccountState,
  putSignedName: names.putSignedName,
  listSignedNames: names.listSignedNames,
  listSessions: sessions.listSessions,
  endSession: sessions.endSession,
  putDevice: devices.putDevice,
  putStart: devices.putStart,
  deviceCopied: devices.deviceCopied,
  listDevices: devices.listDevices,
  revokeDevice: devices.revokeDevice,
  userDevices: devices.userDevices,
  revokedDevices: devices.revokedDevices,
  visibleRevocations: devices.visibleRevocations,
  publishKeyPackages: devices.publishKeyPackages,
  keyPackageCount: devices.keyPackageCount,
  claimKeyPackages: devices.claimKeyPackages,
  claimKeyPackagesOfMany: devices.claimKeyPackagesOfMany,
  listContacts: contacts.listContacts,
  listContactRequests: contacts.listContactRequests,
  listSentRequests: contacts.listSentRequests,
  requestContact: contacts.requestContact,
  withdrawContact: contacts.withdrawContact,
  acceptContact: contacts.acceptContact,
  rejectContact: contacts.rejectContact,
  removeContact: contacts.removeContact,
  searchUsers: contacts.searchUsers,
  listBlocks: blocks.listBlocks,
  block: blocks.block,
  unblock: blocks.unblock,
  report: reports.report,
  listReports: reports.listReports,
  listConversations: conversations.listConversations,
  listUserMessages: conversations.listUserMessages,
  listDigests: conversations.listDigests,
  sendUserMessage: conversations.sendUserMessage,
  markDelivered: conversations.markDelivered,
  putReceipt: receipts.putReceipt,
  listReceipts: receipts.listReceipts,
  submitCommit: conversations.submitCommit,
  putTreeNodes: conversations.putTreeNodes,
  getTree: conversations.getTree,
  getGroupInfo: conversations.getGroupInfo,
  listWelcomes: conversations.listWelcomes,
  deleteWelcome: conversations.deleteWelcome,
  listGroups: groups.listGroups,
  createGroup: groups.createGroup,
  getGroup: groups.getGroup,
  sealGroupName: groups.sealGroupName,
  listGroupMembers: groups.listGroupMembers,
  addGroupMember: groups.addGroupMember,
  leaveGroup: groups.leaveGroup,
  getLeaveStatement: groups.getLeaveStatement,
  deleteGroup: groups.deleteGroup,
  listGroupInvitations: groupInvitations.listGroupInvitations,
  inviteGroupMembers: groupInvitations.inviteGroupMembers,
  withdrawGroupInvitation: groupInvitations.withdrawGroupInvitation,
  acceptGroupInvitation: groupInvitations.acceptGroupInvitation,
  declineGroupInvitation: groupInvitations.declineGroupInvitation,
  listGroupMessages: groups.listGroupMessages,
  sendGroupMessage: groups.sendGroupMessage,
  putHistory: history.putHistory,
  getHistory: history.getHistory,
  deleteHistory: history.deleteHistory,
  getStorage: storage.getStorage,
  listNotifications: notifications.listNotifications,
  readNotification: notifications.readNotification,
  readAllNotifications: notifications.readAllNotifications,
  deleteNotification: notifications.deleteNotification,
} as const;
