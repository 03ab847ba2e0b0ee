import { createStore } from 'jotai';
import type { ConversationState, CryptoApi, MessageView, Operation } from '#src/crypto/client.ts';
import { createKeyedQueue } from '#src/lib/keyedQueue.ts';
import type { Api, Prove } from '#src/net/api.ts';
import { ApiError, type ApiErrorCode } from '#src/net/errors.ts';
import type { KeyRenewal } from '#src/services/account/keyRenewal.ts';
import type { SessionDeps } from '#src/services/core/deps.ts';
import { createLists, type Lists } from '#src/services/core/lists.ts';
import { createSessionEvents } from '#src/services/core/sessionEvents.ts';
import { capturedLog } from '../../net/support/capturedLog.ts';
import { FakeClock } from '../../net/support/fakeClock.ts';

export const me = '00000000-0000-4000-8000-000000000001';
export const peer = '00000000-0000-4000-8000-000000000002';
export const conversationId = `direct:${me}:${peer}`;

export const registeredStart = {
  number: 1,
  tag: 'start',
  from: [],
  signature: 'c2lnbmVk',
  isRegistered: true,
};

/** An object that has only the parts a test gives it; anything else is a call the test did not expect. */
export function partial<T extends object>(parts: Partial<T>): T {
  return new Proxy(parts as T, {
    get(target, name, receiver) {
      if (name in target) return Reflect.get(target, name, receiver);
      return () => Promise.reject(new Error(`unexpected call of ${String(name)}`));
    },
  });
}

export interface TestDeps extends SessionDeps {
  readonly clock: FakeClock;
  readonly lines: string[];
}

export function testDeps(parts: { api?: Partial<Api>; crypto?: Partial<CryptoApi> } = {}): TestDeps {
  const { lines, log } = capturedLog();
  let ids = 0;
  const crypto = parts.crypto ?? {};
  // Nearly nothing is about the start of the storage, which everything that is sent names.
  crypto.start ??= () => Promise.resolve(registeredStart);
  return {
    api: partial<Api>(parts.api ?? {}),
    crypto: partial<CryptoApi>(crypto),
    store: createStore(),
    clock: new FakeClock(),
    random: () => 1,
    locks: { request: createKeyedQueue() },
    log,
    lines,
    newId: () => {
      ids += 1;
      return `00000000-0000-4000-8000-1${String(ids).padStart(11, '0')}`;
    },
    events: new EventTarget(),
    sessionEvents: createSessionEvents(),
  };
}

/** The lists of somebody who is signed in. */
export function testLists(deps: TestDeps): Lists {
  return createLists({ ...deps, hasToken: () => true });
}

const statuses: Partial<Record<ApiErrorCode, number>> = {
  'not-found': 404,
  'stale-epoch': 409,
  'stale-version': 409,
  'not-a-contact': 403,
  'session-expired': 401,
  'device-revoked': 401,
  'password-changed': 401,
  'wrong-credentials': 401,
  'username-taken': 409,
  'rate-limited': 429,
  internal: 500,
};

/** A refusal of the relay. */
export function refused(code: ApiErrorCode, detail: string | null = null): ApiError {
  return new ApiError({ status: statuses[code] ?? 400, code, detail });
}

export function state(change: Partial<ConversationState> = {}): ConversationState {
  return {
    conversationId,
    status: 'joined',
    epoch: 1,
    lastSeq: 1,
    joinedSeq: 0,
    readSeq: 0,
    readHere: 0,
    receipts: [],
    receiptDue: false,
    unread: 0,
    lastMessage: null,
    members: [],
    joinedAt: null,
    linkFrom: null,
    timer: 0,
    pinned: [],
    isPinnedFull: false,
    isDoubted: false,
    group: null,
    ...change,
  };
}

/** A message of the other person at a position, one second after the one before. */
export function received(seq: number, change: Partial<MessageView> = {}): MessageView {
  return {
    conversationId,
    messageId: `m${seq}`,
    seq,
    senderId: peer,
    senderDeviceId: 'device',
    timestamp: new Date(Date.parse('2026-03-01T12:00:00.000Z') + seq * 1000).toISOString(),
    status: 'received',
    content: { kind: 'text', text: `text ${seq}` },
    ...change,
  };
}

/** Takes every operation for confirmed, and keeps what was asked. */
export function testConfirmation() {
  const asked: Operation[] = [];
  const prove: Prove = async () => 'proof';
  return {
    asked,
    prove,
    async confirm(operation: Operation) {
      asked.push(operation);
      return prove;
    },
    confirmWithPassword(operation: Operation) {
      asked.push(operation);
      return prove;
    },
  };
}

/** The vault as a test's relay has it, and as the worker has sealed it anew. */
export const storedVault = { sealedVault: 'c2VhbGVk', passwordWrap: 'd3JhcA', version: 7 };
export const rotatedVault = { ...storedVault, sealedVault: 'YW5ldw', recoveryWrap: 'cmVjb3Zlcnk' };

/** A renewal of keys that opens the vault for whoever has confirmed. */
export const testRenewal: Pick<KeyRenewal, 'renew'> = {
  async renew(_prove, operate, onTaken) {
    await (await operate(storedVault)).submit();
    await onTaken?.();
  },
};

/** A person of whose security there is nothing to tell: no other device, no revocation, no changed key. */
export const uneventful = {
  api: {
    getVault: () => Promise.resolve({ sealedVault: '', hasRecoveryKey: false, version: 1 }),
    getAccountState: () => Promise.resolve({ version: 1, sealed: '', segments: [] }),
    listAccountChanges: () => Promise.resolve([]),
    listDevices: () => Promise.resolve([]),
    visibleRevocations: () => Promise.resolve([]),
    userDevices: () => Promise.resolve([]),
  } satisfies Partial<Api>,
  crypto: {
    readLocal: () => Promise.resolve(null),
    writeLocal: () => Promise.resolve(),
    mutes: () => Promise.resolve([]),
    openDevice: () =>
      Promise.resolve({ userId: me, deviceId: 'own-device', certificate: '', isNew: false, former: null }),
    setRevoked: () => Promise.resolve(),
    adoptState: () => Promise.resolve(null),
    vaultVersion: () => Promise.resolve(1),
    contactTrust: () => Promise.resolve([]),
    observeDevices: () => Promise.resolve(null),
  } satisfies Partial<CryptoApi>,
};
