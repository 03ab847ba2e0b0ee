import { AppError } from '../lib/appError.ts';
import { createApi } from '../net/api.ts';
import { createHttp } from '../net/http.ts';
import type { RealtimeOptions } from '../net/mqtt.ts';
import type { PresenceOptions } from '../net/presence.ts';
import type { AppActions } from '../store/actions.ts';
import type { Deps } from './deps.ts';
import { createBackground } from './failures.ts';
import { topUpKeyPackages } from './enrolment.ts';
import type { Messenger } from './messenger.ts';
import { authErrorEvent, createSession, type Session } from './session.ts';
import { texts } from './texts.ts';
import { createLoginProofStore, createTokenStore } from './token.ts';

/** Where the relay is. */
export interface RelayAddresses {
  /** Origin of the API without `/api`; empty for the page's own. */
  readonly apiHost: string;
  readonly mqttUrl: string;
  readonly presenceUrl: string;
}

export interface ClientOptions extends Omit<Deps, 'api'> {
  readonly addresses: RelayAddresses;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  readonly deviceName: string;
  readonly navigate: (path: string) => void;
  /** Whether the person can see the page: only then is a message read. */
  readonly isVisible: () => boolean;
  readonly createSocket: PresenceOptions['createSocket'];
  readonly fetch?: typeof globalThis.fetch;
  readonly connectMqtt?: RealtimeOptions['connect'];
}

export interface Client {
  readonly actions: AppActions;
  readonly session: Session;
  /** The page has come into sight. */
  onVisible(): void;
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
    onUnauthenticated(token, handledBy) {
      // Of several calls that the end of a session meets, the first decides what the person sees.
      const first = tokens.removeIf(token);
      if (first && handledBy === 'session') options.events.dispatchEvent(new Event(authErrorEvent));
    },
    clock,
    log,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  const deps: Deps = { ...options, api: createApi(http) };

  let messenger: Messenger | null = null;

  const session: Session = createSession({
    deps,
    tokens,
    loginProofs: createLoginProofStore(options.storage),
    deviceName: options.deviceName,
    navigate: options.navigate,
    background,
    async openScope(userId) {
      // Half of the client's code, of no use to a visitor.
      const [{ createMessenger }, { createRealtime }, { createPresence }] = await Promise.all([
        import('./messenger.ts'),
        import('../net/mqtt.ts'),
        import('../net/presence.ts'),
      ]);
      const opened = createMessenger({
        deps,
        userId,
        hasToken,
        isVisible: options.isVisible,
        onUnauthorized: () => background(() => session.check()),
        leaveForLogin: (afterMs) => session.leaveForLogin(afterMs),
        topUpKeyPackages: () => topUpKeyPackages(deps),
        createRealtime: (ownId, listeners) =>
          createRealtime({
            url: addresses.mqttUrl,
            userId: ownId,
            token: readToken,
            listeners,
            clock,
            random,
            log,
            ...(options.connectMqtt === undefined ? {} : { connect: options.connectMqtt }),
          }),
        createPresence: (ownId, listeners) =>
          createPresence({
            url: addresses.presenceUrl,
            userId: ownId,
            token: readToken,
            listeners,
            clock,
            random,
            log,
            createSocket: options.createSocket,
          }),
      });
      messenger = opened;
      return {
        start: () => opened.start(),
        stop() {
          opened.stop();
          if (messenger === opened) messenger = null;
        },
      };
    },
  });

  function signedIn(): Messenger {
    if (messenger === null) throw new AppError('unauthenticated', texts.sessionExpired);
    return messenger;
  }

  const actions: AppActions = {
    signUp: (input) => session.signUp(input),
    logIn: (input) => session.logIn(input),
    logOut: (how) => session.logOut(how),
    searchUsers: async (query) => signedIn().contacts.search(query),
    sendContactRequest: async (userId) => signedIn().contacts.request(userId),
    acceptContactRequest: async (requestId) => signedIn().contacts.accept(requestId),
    rejectContactRequest: async (requestId) => signedIn().contacts.reject(requestId),
    removeContact: async (userId) => signedIn().contacts.remove(userId),
    openChat: async (userId) => signedIn().reading.open(userId),
    loadOlderMessages: async (key) => signedIn().reading.loadOlder(key),
    sendMessage: async (key, text) => signedIn().messaging.send(key, text),
    retryMessage: async (messageId) => signedIn().messaging.retry(messageId),
    discardMessage: async (messageId) => signedIn().messaging.discard(messageId),
    openGroup: async (groupId) => signedIn().groups.open(groupId),
    createGroup: async (name) => signedIn().groups.create(name),
    addGroupMember: async (groupId, userId) => signedIn().groups.add(groupId, [userId]),
    leaveGroup: async (groupId) => signedIn().groups.leave(groupId),
    deleteGroup: async (groupId) => signedIn().groups.delete(groupId),
    loadGroupDetails: async (groupId) => signedIn().groups.loadDetails(groupId),
    readNotification: async (id) => signedIn().notifications.read(id),
    readAllNotifications: async () => signedIn().notifications.readAll(),
    deleteNotification: async (id) => signedIn().notifications.remove(id),
  };

  return { actions, session, onVisible: () => messenger?.reading.markRead() };
}
