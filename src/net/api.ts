import { type KeyPackageSuite, type Route, type RouteBody, type RouteResponse, routes } from './contract.ts';
import { ApiError } from './errors.ts';
import type { CallInput, Http, Prove } from './http.ts';

export type Profile = RouteResponse<typeof routes.profile>;
export type Vault = RouteResponse<typeof routes.getVault>;
export type Session = RouteResponse<typeof routes.login>;
export type RegisterInput = RouteBody<typeof routes.register>;
export type CommitBody = RouteBody<typeof routes.submitCommit>;
export type AccountChange = RouteResponse<typeof routes.listAccountChanges>[number];
export type GroupSummary = RouteResponse<typeof routes.listGroups>[number];
export type GroupDetails = RouteResponse<typeof routes.getGroup>;
/** The part of a log to list. */
export interface LogPage {
  readonly after?: number;
  readonly before?: number;
  /** The position of an entry of which this browser needs the digest alone. */
  readonly digestOf?: number;
  readonly limit: number;
}
export type { Prove, ProvenRequest } from './http.ts';
export type Api = ReturnType<typeof createApi>;

/** Every call that the services make, by its meaning. Failures are those of {@link Http.call}. */
export function createApi(http: Http) {
  return {
    /** The id of the relay's session; null when nobody is signed in. */
    sessionId: () => http.sessionId(),

    /** Makes calls that the client loads when they are asked for. */
    call: <R extends Route>(route: R, input: CallInput<R>) => http.call(route, input),

    signUpMode: async () => (await http.call(routes.getVersion, {})).sign_up,

    register: (body: RegisterInput) => http.call(routes.register, { body, fallback: true }),

    login: (body: RouteBody<typeof routes.login>) => http.call(routes.login, { body, fallback: true }),

    /** @param token of the session, which this browser may have forgotten by now */
    logout: (token: string) => http.call(routes.logout, { unauthenticated: 'caller', token }),

    authParams: (identifier: string) => http.call(routes.authParams, { query: { identifier } }),

    /** Retried once on the same path (spec section 7), unless the relay has said that the session is over. */
    async profile(): Promise<Profile> {
      try {
        return await http.call(routes.profile, { unauthenticated: 'caller' });
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) throw error;
        return http.call(routes.profile, { unauthenticated: 'caller' });
      }
    },

    /** @param prove for another email */
    updateProfile: (body: RouteBody<typeof routes.updateProfile>, prove?: Prove) =>
      http.call(routes.updateProfile, { body, prove }),

    /** Reads the data that the relay holds of a person and no other call answers. */
    accountData: () => http.call(routes.accountData, {}),

    putDiscoverability: (body: RouteBody<typeof routes.putDiscoverability>) =>
      http.call(routes.putDiscoverability, { body }),

    putAskedFirst: (asked_first: boolean) => http.call(routes.putAskedFirst, { body: { asked_first } }),

    /** A 401 is left to the caller: the account may be gone. */
    deleteAccount: (prove: Prove) => http.call(routes.deleteAccount, { unauthenticated: 'caller', prove }),

    listAccountChanges: () => http.call(routes.listAccountChanges, {}),

    createProofNonce: () => http.call(routes.createProofNonce, {}),

    getVault: () => http.call(routes.getVault, {}),

    /** @param prove for a session that has a device */
    getVaultWraps: (prove?: Prove) => http.call(routes.getVaultWraps, { prove }),

    /** @param prove for any vault but the first */
    putVault: (body: RouteBody<typeof routes.putVault>, prove?: Prove) =>
      http.call(routes.putVault, { body, prove }),

    getAccountState: () => http.call(routes.getAccountState, {}),

    putAccountState: (body: RouteBody<typeof routes.putAccountState>) =>
      http.call(routes.putAccountState, { body }),

    putSignedName: (signedName: string) =>
      http.call(routes.putSignedName, { body: { signed_name: signedName } }),

    signedNames: (userIds: readonly string[]) =>
      http.call(routes.listSignedNames, { body: { user_ids: [...userIds] } }),

    listSessions: () => http.call(routes.listSessions, {}),

    /** @param prove for one that was not opened before this one */
    endSession: (id: string, prove?: Prove) => http.call(routes.endSession, { params: { id }, prove }),

    listDevices: () => http.call(routes.listDevices, {}),

    putDevice: (id: string, body: RouteBody<typeof routes.putDevice>) =>
      http.call(routes.putDevice, { params: { id }, body }),

    putStart: (body: RouteBody<typeof routes.putStart>) => http.call(routes.putStart, { body }),

    /** Ends a device whose data is in two places. @param token of a session that ends with it */
    deviceCopied: (id: string, body: RouteBody<typeof routes.deviceCopied>, token?: string) =>
      http.call(routes.deviceCopied, { params: { id }, body, token }),

    changePassword: (body: RouteBody<typeof routes.changePassword>, prove: Prove) =>
      http.call(routes.changePassword, { body, prove }),

    moveOn: (body: RouteBody<typeof routes.moveOn>, prove: Prove) =>
      http.call(routes.moveOn, { body, prove }),

    recover: (body: RouteBody<typeof routes.recover>) => http.call(routes.recover, { body }),

    revokeDevice: (id: string, body: RouteBody<typeof routes.revokeDevice>, prove: Prove) =>
      http.call(routes.revokeDevice, { params: { id }, body, prove }),

    /** Revokes the device of a session that ends with it. @param token of that session */
    revokeOwnDevice: (id: string, statement: string, token: string) =>
      http.call(routes.revokeDevice, { params: { id }, body: { statement }, token }),

    userDevices: (userId: string) => http.call(routes.userDevices, { params: { id: userId } }),

    revokedDevices: (userId: string) => http.call(routes.revokedDevices, { params: { id: userId } }),

    /** Lists the revocations of oneself, contacts and fellow members since a time (RFC 3339). */
    visibleRevocations: (since?: string) =>
      http.call(routes.visibleRevocations, { query: since === undefined ? {} : { since } }),

    publishKeyPackages: (body: RouteBody<typeof routes.publishKeyPackages>) =>
      http.call(routes.publishKeyPackages, { body }),

    keyPackageCount: () => http.call(routes.keyPackageCount, {}),

    /** One KeyPackage of every device of people but the calling one: of the first of the suites that all of them have. */
    claimKeyPackages: (userIds: readonly string[], suites: readonly KeyPackageSuite[]) =>
      http.call(routes.claimKeyPackagesOfMany, { body: { user_ids: [...userIds], suites: [...suites] } }),

    listContacts: () => http.call(routes.listContacts, {}),

    listContactRequests: () => http.call(routes.listContactRequests, {}),

    listSentRequests: () => http.call(routes.listSentRequests, {}),

    requestContact: (userId: string) => http.call(routes.requestContact, { params: { id: userId } }),

    withdrawContact: (id: string) => http.call(routes.withdrawContact, { params: { id } }),

    acceptContact: (requestId: string) =>
      http.call(routes.acceptContact, { params: { id: requestId }, fallback: true }),

    rejectContact: (requestId: string) =>
      http.call(routes.rejectContact, { params: { id: requestId }, fallback: true }),

    removeContact: (userId: string) => http.call(routes.removeContact, { params: { id: userId } }),

    listBlocks: () => http.call(routes.listBlocks, {}),

    setBlocked: (id: string, blocked: boolean) =>
      http.call(blocked ? routes.block : routes.unblock, { params: { id } }),

    report: (body: RouteBody<typeof routes.report>) => http.call(routes.report, { body }),

    listReports: () => http.call(routes.listReports, {}),

    searchUsers: (q: string) => http.call(routes.searchUsers, { query: { q } }),

    listConversations: () => http.call(routes.listConversations, {}),

    /** Log entries of the direct conversation with a person, ascending: above `after`, or the newest below `before`. */
    listUserMessages: (userId: string, page: LogPage) =>
      http.call(routes.listUserMessages, { params: { id: userId }, query: page }),

    /** A 401 is left to the caller: the person gets to read why before the login page (spec section 8). */
    sendUserMessage: (userId: string, body: RouteBody<typeof routes.sendUserMessage>) =>
      http.call(routes.sendUserMessage, { params: { id: userId }, body, unauthenticated: 'caller' }),

    markDelivered: (messageId: string) => http.call(routes.markDelivered, { params: { id: messageId } }),

    putReceipt: (conversationId: string, body: RouteBody<typeof routes.putReceipt>) =>
      http.call(routes.putReceipt, { params: { conversationId }, body }),

    listReceipts: (conversationId: string) => http.call(routes.listReceipts, { params: { conversationId } }),

    submitCommit: (conversationId: string, body: CommitBody) =>
      http.call(routes.submitCommit, { params: { conversationId }, body }),

    listDigests: (conversationId: string, query: { after: number; before: number }) =>
      http.call(routes.listDigests, { params: { conversationId }, query }),

    putTreeNodes: (conversationId: string, body: Uint8Array<ArrayBuffer>) =>
      http.call(routes.putTreeNodes, { params: { conversationId }, body }),

    getTree: (conversationId: string, treeHash: string) =>
      http.call(routes.getTree, { params: { conversationId, treeHash } }),

    getGroupInfo: (conversationId: string) => http.call(routes.getGroupInfo, { params: { conversationId } }),

    listWelcomes: () => http.call(routes.listWelcomes, {}),

    deleteWelcome: (id: string) => http.call(routes.deleteWelcome, { params: { id } }),

    listGroups: () => http.call(routes.listGroups, {}),

    createGroup: (body: RouteBody<typeof routes.createGroup>) => http.call(routes.createGroup, { body }),

    getGroup: (id: string) => http.call(routes.getGroup, { params: { id } }),

    /** The name for who came from outside; one of that epoch that is there already stays. */
    putGroupName: (id: string, body: RouteBody<typeof routes.sealGroupName>) =>
      http.call(routes.sealGroupName, { params: { id }, body }),

    /** People and the commit that adds their devices: both, or neither. */
    addGroupMembers: (id: string, body: RouteBody<typeof routes.addGroupMember>) =>
      http.call(routes.addGroupMember, { params: { id }, body }),

    /** @param body the device's signature of leaving it, by a nonce; `statement`, the word of it for the other members */
    leaveGroup: (id: string, body: RouteBody<typeof routes.leaveGroup>) =>
      http.call(routes.leaveGroup, { params: { id }, body }),

    /** Reads the leave statement of this person; `not-found` for a group that they didn't leave. */
    getLeaveStatement: (id: string) => http.call(routes.getLeaveStatement, { params: { id } }),

    /** @param body the device's signature of deleting it, by a nonce */
    deleteGroup: (id: string, body: RouteBody<typeof routes.deleteGroup>) =>
      http.call(routes.deleteGroup, { params: { id }, body }),

    /** Does for a group what {@link listUserMessages} does for a person. */
    listGroupMessages: (id: string, page: LogPage) =>
      http.call(routes.listGroupMessages, { params: { id }, query: page }),

    listGroupInvitations: () => http.call(routes.listGroupInvitations, {}),

    /** @returns the ids of those who can't be added yet */
    inviteGroupMembers: async (id: string, userIds: readonly string[]) =>
      (await http.call(routes.inviteGroupMembers, { params: { id }, body: { user_ids: [...userIds] } }))
        .asked,

    withdrawGroupInvitation: (id: string, userId: string) =>
      http.call(routes.withdrawGroupInvitation, { params: { id }, body: { user_id: userId } }),

    answerGroupInvitation: (id: string, accepted: boolean) =>
      http.call(accepted ? routes.acceptGroupInvitation : routes.declineGroupInvitation, { params: { id } }),

    /** Does for a group what {@link sendUserMessage} does for a person. */
    sendGroupMessage: (id: string, body: RouteBody<typeof routes.sendGroupMessage>) =>
      http.call(routes.sendGroupMessage, { params: { id }, body, unauthenticated: 'caller' }),

    putHistory: (body: RouteBody<typeof routes.putHistory>) => http.call(routes.putHistory, { body }),

    getHistory: (query: { after: number; limit: number }) => http.call(routes.getHistory, { query }),

    getStorage: () => http.call(routes.getStorage, {}),

    /**
     * Deletes the copies of one conversation, or all.
     * @param prove while the message backup is on, for all, and for a conversation that one is in
     */
    deleteHistory: (query: { conversationId?: string }, prove?: Prove) =>
      http.call(routes.deleteHistory, { query, prove }),

    listNotifications: () => http.call(routes.listNotifications, {}),

    readNotification: (id: string) => http.call(routes.readNotification, { params: { id } }),

    readAllNotifications: () => http.call(routes.readAllNotifications, {}),

    deleteNotification: (id: string) => http.call(routes.deleteNotification, { params: { id } }),
  };
}
