import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { createApi } from '../../net/api.ts';
import { createHttp } from '../../net/http.ts';
import type { RealtimeOptions } from '../../net/mqtt.ts';
import type { PresenceOptions } from '../../net/presence.ts';
import type { AppActions } from '../../store/actions.ts';
import { registerDevice, topUpKeyPackages } from '../account/enrolment.ts';
import type { Deps } from '../core/deps.ts';
import { createBackground } from '../core/failures.ts';
import { updateGroupInvitations } from '../groups/invitationsOnDemand.ts';
import { authErrorEvent, createSession, type Session } from '../session/session.ts';
import {
  createLoginProofStore,
  createTokenStore,
  deviceStorageKey,
  type TabSignal,
} from '../session/token.ts';
import type { Messenger } from './messenger.ts';

/** The addresses of the relay. */
export interface RelayAddresses {
  /** Origin of the API without `/api`; empty for the page's own. */
  readonly apiHost: string;
  readonly mqttUrl: string;
  readonly presenceUrl: string;
}

export interface ClientOptions extends Omit<Deps, 'api'> {
  /** Loads the screens of a session: with it they are there when there is something to show. */
  readonly loadScreens?: () => Promise<unknown>;
  readonly addresses: RelayAddresses;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  readonly deviceName: string;
  readonly navigate: (path: string) => void;
  /** Returns whether the browser takes itself to be online. */
  readonly isOnline: () => boolean;
  /** Returns whether the person can see the page: only then is a message read. */
  readonly isVisible: () => boolean;
  /** The person lets others see how far they have received and read. */
  readonly showsReceipts: () => boolean;
  /** True where the person lets others see that they are writing, and wants to see it of them. */
  readonly showsTyping: () => boolean;
  readonly createSocket: PresenceOptions['createSocket'];
  readonly indexedDB: IDBFactory;
  /** It plays films piece by piece where there is one. */
  readonly serviceWorker?: ServiceWorkerContainer;
  readonly fetch?: typeof globalThis.fetch;
  readonly connectMqtt?: RealtimeOptions['connect'];
}

export interface Client {
  readonly actions: AppActions;
  readonly session: Session;
  /** The page has come into sight. */
  onVisible(): void;
  /** The page has gone out of sight, perhaps for good. */
  onHidden(): void;
  /** The page is left. */
  onLeft(): void;
  /** The page that was left is back as it was. */
  onReturned(): void;
  /** Another tab has changed a value in local storage, which may be a {@link TabSignal}. */
  onStorageChanged(key: string | null): void;
}

/** A whole client but for its screen: what the browser gives it comes in, and what a person can do comes out. */
export function createClient(options: ClientOptions): Client {
  const { addresses, clock, log, random } = options;
  const tokens = createTokenStore(options.storage);
  const background = createBackground(log);
  const readToken = () => tokens.read();
  const hasToken = () => readToken() !== null;

  const http = createHttp({
    host: addresses.apiHost,
    token: readToken,
    onUnauthenticated(token, handledBy, code) {
      // The end of a session may meet several calls: the first decides what the person sees.
      const first = tokens.removeIf(token);
      if (first) session.onTokenRefused(code);
      if (first && handledBy === 'session') options.events.dispatchEvent(new Event(authErrorEvent));
    },
    clock,
    log,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  const deps: Deps = { ...options, api: createApi(http) };

  const loadSignedIn = () => import('./signedIn.ts');
  const loadScreens = () => options.loadScreens?.().catch(() => undefined);
  // A session is to be taken up: they load while its keys are opened. What fails is asked for again then.
  if (hasToken()) void Promise.all([loadSignedIn(), loadScreens()]).catch(() => undefined);

  let messenger: Messenger | null = null;

  const session: Session = createSession({
    deps,
    tokens,
    loginProofs: createLoginProofStore(options.storage),
    deviceName: options.deviceName,
    navigate: options.navigate,
    isOnline: options.isOnline,
    background,
    eraseFiles: (userId) =>
      import('../files/pieceStore.ts')
        .then(({ deletePieces }) => deletePieces(options.indexedDB, userId))
        .catch((error: unknown) => options.log.warn('erase-failed', { code: errorCode(error) })),
    async openScope(userId) {
      const [{ createMessenger, createPresence, createRealtime }] = await Promise.all([
        loadSignedIn(),
        loadScreens(),
      ]);
      const socketOptions = { userId, token: readToken, clock, random, log };
      const opened = createMessenger({
        deps,
        userId,
        hasToken,
        isVisible: options.isVisible,
        showsReceipts: options.showsReceipts,
        showsTyping: options.showsTyping,
        relay: {
          host: addresses.apiHost,
          token: readToken,
          ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
        },
        indexedDB: options.indexedDB,
        serviceWorker: options.serviceWorker,
        onConnected: () => session.onConnected(),
        onDisconnected: () => session.onDisconnected(),
        onUnauthorized(token, code) {
          // Another tab of this session may have removed it a moment before.
          if (code !== null && (tokens.removeIf(token) || !hasToken())) session.onTokenRefused(code);
          background(() => session.check());
        },
        leaveForLogin: (afterMs) => session.leaveForLogin(afterMs),
        onDeviceRevoked: () => session.onDeviceRevoked(),
        topUpKeyPackages: () => topUpKeyPackages(deps),
        registerDevice: () => registerDevice(deps, options.deviceName),
        tellTabs: (deviceId) => options.storage.setItem(deviceStorageKey, deviceId),
        // A full storage keeps nobody else from hearing of it.
        signalTabs: (changed) =>
          background(async () => {
            const isOdd = options.storage.getItem(changed) === '1';
            options.storage.setItem(changed, isOdd ? '0' : '1');
          }),
        createRealtime: (listeners) =>
          createRealtime({
            ...socketOptions,
            url: addresses.mqttUrl,
            listeners,
            ...(options.connectMqtt === undefined ? {} : { connect: options.connectMqtt }),
          }),
        createPresence: (listeners) =>
          createPresence({
            ...socketOptions,
            url: addresses.presenceUrl,
            listeners,
            createSocket: options.createSocket,
          }),
      });
      messenger = opened;
      return {
        ...opened,
        stop() {
          opened.stop();
          if (messenger === opened) messenger = null;
        },
      };
    },
  });

  function signedIn(): Messenger {
    if (messenger === null) throw new AppError('unauthenticated', t('errors.sessionExpired'));
    return messenger;
  }

  const actions: AppActions = {
    // The client is there already.
    prepareSignIn: () => undefined,
    signUpMode: () => deps.api.signUpMode(),
    signUp: (input) => session.signUp(input),
    logIn: (input) => session.logIn(input),
    logOut: (how) => session.logOut(how),
    recover: (input) => session.recover(input),
    setUpRecoveryKey: async () => signedIn().security.recovery.setUp(),
    dismissRecoveryOffer: async () => signedIn().security.recovery.dismissOffer(),
    changePassword: async () => signedIn().security.changePassword(),
    moveOn: async () => signedIn().moveOn(),
    acceptOlderVault: async () => signedIn().security.keyRenewal.acceptOlder(),
    takeOverKeys: async () => signedIn().security.keyRenewal.takeOver(),
    loadDevices: async () => signedIn().security.devices.load(),
    renameDevice: async (name) => signedIn().security.devices.rename(name),
    revokeDevice: async (deviceId) => signedIn().security.devices.revoke(deviceId),
    async updateSessions(endedId) {
      const { confirmation } = signedIn();
      return (await import('../account/sessions.ts')).updateSessions(deps, confirmation, endedId);
    },
    acknowledgeDevices: async () => signedIn().security.devices.acknowledge(),
    acknowledgeOlderStates: async () => signedIn().ownDevices.acknowledgeOlderStates(),
    acknowledgeAccountChange: async () => signedIn().security.accountChanges.acknowledge(),
    loadSafetyNumbers: async (userId) => signedIn().security.trust.safetyNumbers(userId),
    setVerified: async (userId, number, verified) =>
      signedIn().security.trust.setVerified(userId, number, verified),
    acceptIdentity: async (userId, number) => signedIn().security.trust.accept(userId, number),
    refuseIdentity: async (userId, number) => signedIn().security.trust.refuse(userId, number),
    updateProfile: async (change) => signedIn().updateProfile(change),
    async loadDiscoverability() {
      signedIn();
      return (await import('../account/profileSettings.ts')).loadDiscoverability(deps);
    },
    async setDiscoverability(change) {
      signedIn();
      await (await import('../account/profileSettings.ts')).setDiscoverability(deps, change);
    },
    async updateEmailVerification(change) {
      signedIn();
      return (await import('../account/profileSettings.ts')).updateEmailVerification(deps, change);
    },
    async updateAskedFirst(change) {
      signedIn();
      return (await import('../account/profileSettings.ts')).updateAskedFirst(deps, change);
    },
    async loadRetention() {
      signedIn();
      return (await import('../backup/retention.ts')).loadRetention(deps);
    },
    isStorageKept: () => deps.crypto.isStorageKept(),
    async deleteAccount() {
      const { confirmation, groups, userId } = signedIn();
      const { deleteAccount } = await import('./deletion.ts');
      await deleteAccount({ deps, ownUserId: userId, groups, session, confirmation });
    },
    exportData: async (format, file, withFiles) => signedIn().dataExport.run(format, file, withFiles),
    measureFiles: async (signal) => signedIn().dataExport.measureFiles(signal),
    cancelDataExport: () => messenger?.dataExport.cancel(),
    retryLists: async () => signedIn().retryLists(),
    searchUsers: async (query) => signedIn().contacts.search(query),
    sendContactRequest: async (userId) => signedIn().contacts.request(userId),
    withdrawContactRequest: async (userId) => signedIn().contacts.withdraw(userId),
    acceptContactRequest: async (requestId) => signedIn().contacts.accept(requestId),
    rejectContactRequest: async (requestId) => signedIn().contacts.reject(requestId),
    removeContact: async (userId) => signedIn().contacts.remove(userId),
    async report(report) {
      signedIn();
      await (await import('../people/reports.ts')).report(deps, report);
    },
    async updateBlocks(change) {
      signedIn();
      await (await import('../people/blocks.ts')).updateBlocks(deps, change);
    },
    openChat: async (userId) => signedIn().openConversation.open(userId),
    loadOlderMessages: async (key) => signedIn().openConversation.loadOlder(key),
    muteConversation: async (key, mute) => (await signedIn().loadMutes()).set(key, mute),
    tellTyping: (key, isWriting) => messenger?.tellTyping(key, isWriting),
    sendMessage: async (key, text, inReplyTo) => signedIn().messaging.send(key, text, inReplyTo),
    changeMessage: async (key, change) => signedIn().messaging.change(key, change),
    forwardMessage: async (key, words) => signedIn().messaging.forward(key, words),
    deleteMessageHere: async (key, messageId) => signedIn().messaging.deleteHere(key, messageId),
    messageVersions: async (key, messageId) => signedIn().messaging.versions(key, messageId),
    retryMessage: async (key, messageId) => signedIn().messaging.retry(key, messageId),
    discardMessage: async (messageId) => signedIn().messaging.discard(messageId),
    settleDoubt: async (key, how) => signedIn().messaging.settleDoubt(key, how),
    loadStars: async () => (await signedIn().stars()).load(),
    setStar: async (key, messageId, isStarred) => (await signedIn().stars()).set(key, messageId, isStarred),
    setPinned: async (key, messageId, isPinned) => signedIn().messaging.agree(key, { messageId, isPinned }),
    setMessageTimer: async (key, seconds) => signedIn().messaging.agree(key, { seconds }),
    messageEvidence: (conversationId, seq) => deps.crypto.messageEvidence(conversationId, seq),
    saveView: (conversationId, withTexts) => deps.crypto.saveView(conversationId, withTexts),
    compareView: (conversationId, file) => deps.crypto.compareView(conversationId, file),
    async lastSent() {
      const { userId } = signedIn();
      return (await import('../conversations/lastSent.ts')).lastSent(deps, userId);
    },
    openGroup: async (groupId) => signedIn().groups.open(groupId),
    createGroup: async (name) => signedIn().groups.create(name),
    addGroupMembers: async (groupId, userIds) => signedIn().groups.add(groupId, userIds),
    async updateGroupInvitations(change) {
      signedIn();
      await updateGroupInvitations(deps, change);
    },
    leaveGroup: async (groupId) => signedIn().groups.leave(groupId),
    deleteGroup: async (groupId) => signedIn().groups.delete(groupId),
    removeGroup: async (groupId) => signedIn().groups.remove(groupId),
    loadGroupDetails: async (groupId) => signedIn().groups.loadDetails(groupId),
    readNotification: async (id) => signedIn().notifications.read(id),
    readAllNotifications: async () => signedIn().notifications.readAll(),
    deleteNotification: async (id) => signedIn().notifications.remove(id),
    setBackupKept: async (kept) => signedIn().messageBackup.setKept(kept),
    files: async () => (await signedIn().files()).actions,
    readLocal: (name) => deps.crypto.readLocal(name),
    writeLocal: (name, text) => deps.crypto.writeLocal(name, text),
  };

  return {
    actions,
    session,
    onVisible: () => messenger?.openConversation.markRead(),
    onHidden: () => messenger?.onHidden(),
    onLeft() {
      messenger?.onHidden();
      messenger?.setPresent(false);
    },
    onReturned: () => messenger?.setPresent(true),
    onStorageChanged(key) {
      if (key === ('mutes' satisfies TabSignal))
        background(async () => (await messenger?.loadMutes())?.refresh());
      if (key === ('drafts' satisfies TabSignal)) background(async () => messenger?.takeDrafts());
    },
  };
}
