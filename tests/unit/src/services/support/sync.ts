import { beforeEach, vi } from 'vitest';
import type { ProcessResult } from '#src/crypto/client.ts';
import { createJoiner } from '#src/services/conversations/joiner.ts';
import { createSync, type Sync } from '#src/services/conversations/sync.ts';
import { conversationId, me, peer, type TestDeps, testDeps } from './deps.ts';
import { SimulatedDevice, SimulatedRelay } from './simulation.ts';

export let relay: SimulatedRelay;
export let device: SimulatedDevice;
export let deps: TestDeps;
export let sync: Sync;
export const onProcessed = vi.fn<(result: ProcessResult) => void>();

/** A device that syncs with a relay, both anew for each test. */
export function withSync(): void {
  beforeEach(begin);
}

function begin(): void {
  onProcessed.mockReset();
  relay = new SimulatedRelay();
  device = new SimulatedDevice();
  deps = testDeps({
    api: relay.apiFor(me, 'own-device'),
    crypto: { ...device.api(), forgetConversation: () => Promise.resolve() },
  });
  const joiner = createJoiner(deps, me);
  deps.sessionEvents.on('entriesProcessed', onProcessed);
  sync = createSync(deps, me, joiner);
}

export const texts = () =>
  device.messages.map(({ content }) => (content.kind === 'text' ? content.text : content.kind));

/** A live event for an entry of the log. */
export function event(seq: number): Parameters<Sync['onEntry']>[0] {
  const entry = relay.log[seq - 1];
  if (entry === undefined) throw new Error('no such entry');
  return {
    type: entry.kind === 'commit' ? 'commit' : 'message',
    conversationId,
    messageId: entry.id,
    senderId: entry.sender_id,
    senderDeviceId: entry.sender_device_id,
    seq,
    epoch: entry.epoch,
    content: entry.content,
    timestamp: entry.timestamp,
  };
}

/** A device that is a member and has processed the log so far. */
export async function memberOf(messages: number): Promise<void> {
  relay.begin(peer, messages);
  relay.welcome('own-device', 1);
  await sync.catchUp(conversationId);
  relay.calls.length = 0;
  onProcessed.mockReset();
}
