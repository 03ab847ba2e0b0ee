import { beforeEach, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import type { Realtime } from '#src/net/mqtt.ts';
import { type Chats, createChats } from '#src/services/conversations/chats.ts';
import { createCommitSubmitter } from '#src/services/conversations/commitSubmitter.ts';
import { createJoiner } from '#src/services/conversations/joiner.ts';
import { createOutbox, type Outbox, type OutboxOptions } from '#src/services/conversations/outbox.ts';
import { createSync } from '#src/services/conversations/sync.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { conversationId, me, peer, refused, type TestDeps, testDeps } from './deps.ts';
import { SimulatedDevice, SimulatedRelay } from './simulation.ts';

export let relay: SimulatedRelay;
export let device: SimulatedDevice;
export let worker: Partial<CryptoApi>;
export let deps: TestDeps;
let chats: Chats;
export let outbox: Outbox;
let connected: boolean;
export let offline: boolean;
export const publish = vi.fn<Realtime['publish']>();
export const maySend = vi.fn<OutboxOptions['maySend']>();
export const onFailed = vi.fn<(error: unknown) => void>();
export const onIdentityChanged = vi.fn<() => void>();

/** A second call makes another tab of the same browser: same worker storage, same locks. */
export function createTab(tabDeps: TestDeps, hasRead: () => boolean = () => true): Outbox {
  const joiner = createJoiner(tabDeps, me);
  const sync = createSync(tabDeps, me, joiner);
  return createOutbox({
    deps: tabDeps,
    ownUserId: me,
    // The reading of the log beforehand has its own test.
    sync: { ...sync, hasRead },
    joiner,
    commitSubmitter: createCommitSubmitter(tabDeps, joiner, sync),
    maySend,
    isOffline: () => offline,
    onIdentityChanged,
    chats,
    realtime: { isConnected: () => connected, publish },
    onFailed,
    background: createBackground(tabDeps.log),
  });
}

/** An outbox on the simulated relay and device, anew for each test. */
export function withOutbox(): void {
  beforeEach(begin);
}

function begin(): void {
  publish.mockReset();
  onFailed.mockReset();
  onIdentityChanged.mockReset();
  maySend.mockReset().mockResolvedValue('yes');
  connected = false;
  offline = false;
  relay = new SimulatedRelay();
  device = new SimulatedDevice();
  worker = device.api();
  deps = testDeps({ api: relay.apiFor(me, 'own-device'), crypto: worker });
  chats = createChats(deps, me);
  chats.setLoaded(peer, true);
  outbox = createTab(deps);
  // As the relay does over MQTT.
  publish.mockImplementation(async ({ content, epoch, messageId }) => {
    relay.calls.push('publish');
    if (epoch !== relay.epoch) throw refused('stale-epoch');
    return relay.append('application', content, me, messageId);
  });
}

export async function queue(...texts: string[]): Promise<void> {
  for (const text of texts) {
    await worker.queueMessage?.({
      conversationId,
      messageId: `id of ${text}`,
      text,
      sentAt: '2026-03-01T12:00:00.000Z',
    });
  }
}

/** This device is a member, and the log holds the commit that let it in. */
export async function member(): Promise<void> {
  relay.begin(peer, 0);
  Object.assign(device, { membership: 'member', epoch: 1, lastSeq: 1, joinedSeq: 1 });
}

export const logged = () =>
  relay.log.filter(({ kind }) => kind === 'application').map(({ content }) => content);
export const shown = () => chats.get(peer).messages.map(({ messageId, status }) => `${messageId}: ${status}`);

/** Sets whether MQTT is connected. */
export function setConnected(isConnected: boolean): void {
  connected = isConnected;
}

/** Sets whether there is no connection at all. */
export function setOffline(isOffline: boolean): void {
  offline = isOffline;
}
