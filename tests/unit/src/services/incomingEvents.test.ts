import { describe, expect, it, vi } from 'vitest';
import type { ConversationState } from '#src/crypto/client.ts';
import { createIncomingEventHandler } from '#src/services/client/incomingEvents.ts';
import type { Services } from '#src/services/client/services.ts';
import type { Joiner } from '#src/services/conversations/joiner.ts';
import type { Sync } from '#src/services/conversations/sync.ts';
import { conversationId, me, partial, state, testDeps } from './support/deps.ts';

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
