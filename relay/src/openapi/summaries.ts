import type { servedRoutes as routes } from '../../contract/served.ts';

/** Says in a sentence what each call does: here and not in the contract, because the client loads that. */
export const summaries: Readonly<Record<keyof typeof routes, string>> = {
  getVersion: 'The version of the relay, and who can sign up',
  register: 'Create an account',
  login: 'Sign in with a username or an email',
  logout: 'End this session on every process at once',
  authParams: 'Password derivation parameters; a stable decoy for an unknown name',
  recover: 'Sign in by the recovery key, for long enough to open the vault and set a new password',
  profile: 'The signed-in person',
  updateProfile:
    "Change one's username and email. Where emails are verified another email waits for the code that is mailed to it",
  sendEmailCode: 'Mail a new code to the address that is to be verified',
  confirmEmail: 'Verify an address by the code that was mailed to it; a new one replaces the email then',
  cancelEmailChange: 'Forget the address that waits to replace the email',
  changePassword:
    'Set a new password, proven by the old one or by a recovery session, and end every other session',
  moveOn:
    'Move on after a theft: a new account key and password, all devices revoked, every other session ended, no recovery key. This session registers its browser as a new device then',
  accountData:
    'What the relay holds about a person that no other call answers, and the sessions, for the data export',
  putAskedFirst: 'Change whether one is asked before somebody puts one into a group',
  putDiscoverability: 'Change by which names others find one, and whether they are shown the email',
  deleteAccount: "Delete the account and everything that is the person's",
  listAccountChanges: 'What has changed who owns the account in the last seven days, oldest first',
  createProofNonce: 'A nonce for one proof in this session, and the facts that the proof signs',
  getVault: 'The sealed vault without its wraps; 404 before the first PUT',
  getVaultWraps: 'The wraps of the vault key',
  getFormerVault: 'The vault before the present one, for seven days',
  putVault: 'Replace the sealed vault; `version` is the one it replaces, 0 for the first',
  getAccountState: 'The sealed state that the devices of a person share; null before the first PUT',
  putAccountState:
    'Replace the sealed state; `version` is the one it replaces, 0 for the first. The device signs it, with the hashes of its segments, of which those come along that the relay lacks',
  putSignedName:
    "Keep the person's username as a device of theirs has signed it, for those who may see their devices",
  listSignedNames:
    'Signed usernames of oneself, contacts and fellow members; those of others, and who has none, are left out',
  listSessions: 'Own sessions, oldest first',
  endSession: 'End an own session on every process at once',
  putDevice: 'Register this browser as a device, or resume it, and bind the session to it',
  putStart:
    'Register a start of this device in the place of one of those named, or the first one; answers the one that is registered then',
  deviceCopied:
    "A device's own word that its data is in two places: its sessions end, and no session takes it any more. With the account key's signed statement it is revoked as well",
  listDevices: 'Own devices',
  revokeDevice:
    "Revoke an own device with the account key's signed statement: its sessions end, its KeyPackages and Welcomes go",
  userDevices: 'Device certificates of oneself, a contact or a fellow member',
  revokedDevices: 'Revoked devices of oneself, a contact or a fellow member, with the signed statements',
  visibleRevocations:
    'Revoked devices of oneself, all contacts and fellow members: for who was away when they were told',
  publishKeyPackages:
    'Add single-use KeyPackages of this device, of one MLS suite; a last-resort one replaces the former of that suite',
  keyPackageCount: 'How many single-use KeyPackages of this device are left, by suite',
  claimKeyPackages:
    'Take one KeyPackage, of suite 0x004D, of every device of a contact, a fellow member or oneself (the calling device left out)',
  claimKeyPackagesOfMany:
    'As the call for one person, for several at once: all are there, or nothing is taken. All are of one suite, the first of those named of which each device has one. It counts as one call for each',
  listContacts: 'People one has accepted, or been accepted by',
  listContactRequests: 'Pending requests to oneself',
  listSentRequests: 'Pending requests that one has sent',
  requestContact:
    'Ask a person, by user id, to become a contact. A request that crosses one the other way accepts it.',
  withdrawContact: 'Take a pending request back, by user id; it counts as declined',
  acceptContact: 'Accept a pending request, by request id',
  rejectContact: 'Decline a pending request, by request id',
  removeContact: 'Remove a contact, by user id',
  searchUsers:
    'People whose username contains the text (of two characters: begins with it), or whose email is the text; never oneself. Emails that were not typed in full are masked unless their owners show them; those that are to be verified find nobody and are empty',
  listBlocks: 'People whom one has blocked, by name',
  block:
    'Block a person, by user id: their messages, requests and new groups are answered to them as before, and held back from oneself. They are not told',
  unblock: 'End a block, by user id: what was held back comes then',
  report:
    'Report a person to whoever runs the relay: a reason, words, and the messages that one chooses to show. They are not told',
  listReports: "One's own reports, newest first",
  listConversations: 'Conversations one takes part in that have been started',
  listUserMessages:
    "The log of the direct conversation with a person, or with oneself that of one's own devices",
  listDigests:
    'Digests of the entries above a position and below another, from before one joined too; a page may end early',
  sendUserMessage:
    "Append an application message, to oneself among one's own devices; repeating a messageId answers the entry that exists",
  markDelivered:
    'The receiver has read this message and all before it in its conversation, which their own devices are told',
  putReceipt:
    "This device's receipt of a conversation of up to 32 people, in the place of the one before; an older one changes nothing",
  listReceipts: 'The receipts of all devices in a conversation',
  submitCommit:
    'Append a commit if `epoch` is the current one (0 starts the conversation); otherwise 409 with the current epoch',
  putTreeNodes:
    "Bring nodes of a group's ratchet tree that a commit has changed, children first, before the commit that names the root",
  getTree: 'The ratchet tree that a GroupInfo or a Welcome names, as a ratchet_tree extension has it',
  getGroupInfo: 'What a new device of a member needs to join by external commit',
  listWelcomes:
    "This device's mailbox of Welcomes, oldest first; when it holds a lot, the rest follows once these are deleted",
  deleteWelcome: 'Take a Welcome out of the mailbox once its state is saved',
  listGroups: 'Groups one is a member of',
  createGroup:
    'Create a group with oneself as its only member; its conversation starts with the first commit, at epoch 0',
  getGroup: 'A group with its members',
  sealGroupName:
    "Store the group's name under a key of its current epoch, which a device that joined from outside can open. The one that is there for that epoch stays",
  listGroupMembers: 'Members of a group, by name',
  addGroupMember:
    'Creator: add contacts, as `user_id` or `user_ids`, with the commit that adds their devices; all happens, or nothing',
  leaveGroup:
    'Member: leave a group, by the word of the device. The next committer removes the leaves from its tree',
  getLeaveStatement:
    "One's own signed word that one has left a group, until one is added again: one's other devices verify it, and can say why the group is gone. Null where there is none",
  deleteGroup: 'Creator: delete a group with its whole log, for everybody, by the word of the device',
  listGroupInvitations: "Invitations to groups that ask oneself, and those to one's own groups",
  inviteGroupMembers:
    "Creator: ask those among contacts who want to be asked before they are in a group. The answer says who can't be added yet",
  withdrawGroupInvitation: 'Creator: ask somebody no more',
  acceptGroupInvitation: "Accept to be in a group, by the group's id: its creator can add one now",
  declineGroupInvitation: "Decline to be in a group, by the group's id",
  listGroupMessages:
    "The log of a group, from the commit that made one a member. `is_read`: by oneself; one's own messages, by everybody",
  sendGroupMessage: 'Append an application message; repeating a messageId answers the entry that exists',
  putHistory:
    'Store sealed copies; an id that is stored already is left as it is, or replaced where the device has signed for it',
  getHistory: 'Sealed copies in the order of storing, `after` a position; only an empty page is the end',
  getBlobStorage:
    'The largest file that the relay takes, how long it keeps files, how much there is of one’s own, and the uploads that one’s device has begun',
  getStorage: 'For how many days the relay keeps what it keeps of everybody',
  deleteHistory:
    'Delete every sealed copy, which switches the message backup off, or those of one conversation',
  listNotifications: 'Newest first; older ones than `limits.notificationsMax` are gone',
  readNotification: 'Mark one as read',
  readAllNotifications: 'Mark all as read',
  deleteNotification: 'Remove one from the list',
};
