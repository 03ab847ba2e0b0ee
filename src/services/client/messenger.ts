import { withTexts } from '../../i18n/i18n.ts';
import type { Timer } from '../../lib/clock.ts';
import { resetSessionAtomsAtom } from '../../store/sessionAtom.ts';
import type { OwnDevices } from '../account/ownDevices.ts';
import type { OwnNames } from '../account/ownNames.ts';
import type { Security } from '../account/security.ts';
import type { MessageBackup } from '../backup/messageBackup.ts';
import type { Drafts } from '../conversations/drafts.ts';
import type { Messaging } from '../conversations/messaging.ts';
import type { OpenConversation } from '../conversations/openConversation.ts';
import type { Stars } from '../conversations/stars.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps, SessionDeps } from '../core/deps.ts';
import { createBackground, ended } from '../core/failures.ts';
import { createResponseCache } from '../core/responseCache.ts';
import { sessionScopedStore } from '../core/scopedStore.ts';
import { createSessionEvents } from '../core/sessionEvents.ts';
import { timings } from '../core/timings.ts';
import type { DataExport } from '../export/dataExport.ts';
import type { Files, FilesOptions } from '../files/files.ts';
import type { GroupActions } from '../groups/groupActions.ts';
import type { Contacts } from '../people/contacts.ts';
import type { Notifications } from '../people/notifications.ts';
import { createIncomingEventHandler } from './incomingEvents.ts';
import {
  createRelayConnection,
  type RelayConnection,
  type RelayConnectionOptions,
} from './relayConnection.ts';
import { createServices, type Services, type ServicesOptions } from './services.ts';

export interface MessengerOptions
  extends Omit<ServicesOptions, 'deps' | 'recall' | 'background' | 'onDeletingFiles' | 'openFiles'>,
    Pick<FilesOptions, 'indexedDB' | 'relay' | 'serviceWorker'>,
    Pick<RelayConnectionOptions, 'onConnected' | 'onDisconnected' | 'onUnauthorized'> {
  readonly deps: Deps;
  /** Uploads KeyPackages in place of those that have been used up: others need them to reach this device. */
  readonly topUpKeyPackages: () => Promise<void>;
  /** Registers this browser's device at the relay. */
  readonly registerDevice: () => Promise<unknown>;
  /** Tells the other tabs that this browser is another device now. */
  readonly tellTabs: (deviceId: string) => void;
}

/** Everything of one signed-in session. It is made at sign-in, and after stop() nothing of it touches the store. */
export interface Messenger extends RelayConnection {
  readonly userId: string;
  readonly contacts: Contacts;
  readonly groups: GroupActions;
  readonly notifications: Notifications;
  readonly messaging: Messaging;
  readonly openConversation: OpenConversation;
  readonly dataExport: DataExport;
  readonly messageBackup: MessageBackup;
  readonly security: Security;
  readonly ownDevices: Pick<OwnDevices, 'acknowledgeOlderStates'>;
  readonly confirmation: Confirmation;
  readonly tellTyping: Services['tellTyping'];
  readonly loadMutes: Services['loadMutes'];
  readonly takeDrafts: Drafts['take'];
  /** Loads the files of this session. */
  files(): Promise<Files>;
  /** Loads the stars of this session. */
  stars(): Promise<Stars>;
  /** Asks anew for the lists that could not be loaded. Never rejects. */
  retryLists(): Promise<void>;
  updateProfile(change: OwnNames): Promise<void>;
  /** Begins anew under another account key. @throws AppError `cancelled` */
  moveOn(): Promise<void>;
  /** Shows what this browser has. */
  start(): Promise<void>;
  /** The page may not come back from where it goes. */
  onHidden(): void;
  stop(): void;
}

export function createMessenger(options: MessengerOptions): Messenger {
  const { topUpKeyPackages, userId } = options;
  let active = true;
  options.deps.store.set(resetSessionAtomsAtom);
  const isActive = () => active;
  const { clock, crypto, log } = options.deps;
  let renewing: Timer | null = null;
  const background = createBackground(log);
  const { api, recall } = createResponseCache({ api: options.deps.api, crypto, isActive, background });
  const sessionEvents = createSessionEvents();
  const store = sessionScopedStore(options.deps.store, isActive);
  const deps: SessionDeps = { ...options.deps, api, store, sessionEvents };
  const services = createServices({
    ...options,
    deps,
    recall,
    background,
    onDeletingFiles: async (deletionId, message) => (await files()).onDeleting(deletionId, message),
    openFiles: async (signal) => (await files()).reader(signal),
  });
  const { confirmation, contacts, dataExport, drafts, groups, lists, memberNames } = services;
  const { messageBackup, messaging, notifications, openConversation, security } = services;
  const handle = createIncomingEventHandler({ deps, ownUserId: userId, services, topUpKeyPackages });
  const { indexedDB, relay, serviceWorker } = options;
  const { chats, outbox } = services;
  const demanded = {
    deps,
    ownUserId: userId,
    chats,
    drafts,
    outbox,
    isActive,
    background,
    relay,
    indexedDB,
    serviceWorker,
  };
  const files = async () => (await withTexts('tabs', import('../files/files.ts'))).filesOf(demanded);
  const stars = async () => (await withTexts('tabs', import('../conversations/stars.ts'))).starsOf(demanded);
  const connection = createRelayConnection({ ...options, deps, isActive, services, handle, background });

  return {
    ...connection,
    userId,
    contacts,
    groups,
    notifications,
    messaging,
    openConversation,
    dataExport,
    messageBackup,
    ownDevices: services.ownDevices,
    security,
    confirmation,
    tellTyping: services.tellTyping,
    loadMutes: services.loadMutes,
    takeDrafts: () => drafts.take(),
    files,
    stars,
    retryLists: () => lists.retry(),
    async updateProfile(change) {
      const { updateProfile } = await import('../account/profile.ts');
      await updateProfile(deps, change, confirmation);
    },
    async moveOn() {
      const { moveOn } = await import('../account/movingOn.ts');
      await moveOn({
        deps,
        confirmation,
        keyRenewal: security.keyRenewal,
        sync: services.sync,
        async register() {
          await options.registerDevice();
          await topUpKeyPackages();
        },
        tellTabs: options.tellTabs,
        connect: () => connection.connect(),
        disconnect: () => connection.disconnect(),
      });
    },

    async start() {
      services.disappearing.start();
      // All of what the first screen shows, so that nothing of it changes a moment later.
      const shown = Promise.all([
        crypto.conversations().then((states) => sessionEvents.emit('conversationsChanged', { states })),
        contacts.recall(),
        ended(background, () => memberNames.load()),
        ended(background, () => security.trust.start()),
        drafts.start(),
      ]);
      // After the worker was asked: while it reads, this thread has time.
      connection.prepare();
      messageBackup.start();
      await shown;
      services.ownDevices.start();
      if (active) renewing = clock.every(timings.keyPackagePolling, () => background(topUpKeyPackages));
      background(async () => {
        if ((await crypto.mutes()).length > 0) await (await services.loadMutes()).refresh();
      });
      background(async () => {
        // Finds files on their way, and those that are to go from the relay.
        const waiting = await crypto.localEntries('upload');
        if (waiting.length > 0) await (await files()).resume();
      });
    },

    onHidden: () => drafts.flush(),
    stop() {
      if (!active) return;
      renewing?.cancel();
      connection.disconnect();
      drafts.stop();
      messageBackup.stop();
      dataExport.cancel();
      lists.stop();
      services.groupList.stop();
      openConversation.stop();
      services.receipts.stop();
      services.disappearing.stop();
      security.stop();
      services.ownDevices.stop();
      services.knownPresence.end();
      store.set(resetSessionAtomsAtom);
      active = false;
    },
  };
}
