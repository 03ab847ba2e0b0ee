import { describe, expect, it, vi } from 'vitest';
import type { ConversationState } from '#src/crypto/client.ts';
import { createIncomingEventHandler } from '#src/services/client/incomingEvents.ts';
import type { Services } from '#src/services/client/services.ts';
import type { Joiner } from '#src/services/conversations/joiner.ts';
import type { Sync } from '#src/services/conversations/sync.ts';
import { blocksAtom } from '#src/store/blocks.ts';
import { conversationId, me, partial, peer, state, testDeps } from './support/deps.ts';

const dropWelcomes = vi.fn<Joiner['dropWelcomes']>();

/** Tells of a Welcome where catching up leads to a status. */
function told(status: ConversationState['status']): Promise<void> {
  dropWelcomes.mockReset().mockResolvedValue(undefined);
  const joiner = partial<Joiner>({ refreshMailbox: async () => [conversationId], dropWelcomes });
  const sync = partial<Sync>({ catchUp: async () => state({ status }) });
  const handle = createIncomingEventHandler({
    deps: testDeps(),
    ownUserId: me,
    services: partial<Services>({ joiner, sync }),
    topUpKeyPackages: async () => undefined,
  });
  return handle({ type: 'welcome', conversationId });
}

describe('a Welcome', () => {
  it('stays in the mailbox of a device that has not come in', async () => {
    await told('outside');
    expect(dropWelcomes).not.toHaveBeenCalled();
  });

  it('goes where the device is in', async () => {
    await told('joined');
    expect(dropWelcomes).toHaveBeenCalledExactlyOnceWith(conversationId);
  });
});

describe('a block in another browser of the person', () => {
  const bert = { id: peer, username: 'bert', created_at: '2026-03-01T12:00:00.000Z' };

  it.each([
    ['shows where the blocked people were loaded', [], [bert]],
    ['is not asked for before', null, null],
  ] as const)('%s', async (_title, before, after) => {
    const deps = testDeps({ api: { listBlocks: async () => [bert] } });
    deps.store.set(blocksAtom, before);
    const handle = createIncomingEventHandler({
      deps,
      ownUserId: me,
      services: partial<Services>({}),
      topUpKeyPackages: async () => undefined,
    });
    await handle({ type: 'blocks' });
    expect(deps.store.get(blocksAtom)).toEqual(after);
  });
});
