import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createDoubts, type Doubts } from '#src/services/conversations/doubts.ts';
import { createSessionEvents, type SessionEvents } from '#src/services/core/sessionEvents.ts';
import { conversationId, peer, state } from './support/deps.ts';
import { sailors } from './support/groupList.ts';

const group = { ...sailors, unvouchedIds: [peer] };
let events: SessionEvents;
let doubts: Doubts;
const onReleased = vi.fn<(event: { conversationId: string }) => void>();
const becomes = (change: Parameters<typeof state>[0]) =>
  events.emit('conversationsChanged', { states: [state(change)] });

beforeEach(() => {
  onReleased.mockReset();
  events = createSessionEvents();
  doubts = createDoubts(events);
  events.on('holdReleased', onReleased);
});

describe('messages of a conversation in doubt', () => {
  const maySend = (change: Parameters<typeof state>[0] | null) =>
    doubts.unlessHeld(
      () => (change === null ? null : state(change)),
      async () => 'yes',
    );

  it.each([
    ['something was found', { isDoubted: true }, {}],
    ['it holds somebody whom nobody vouches for', { group }, { group: sailors }],
  ])('wait where %s, and go once that is over', async (_what, inDoubt, calm) => {
    expect(await maySend(inDoubt)).toBe('held');
    becomes(inDoubt);
    expect(onReleased).not.toHaveBeenCalled();
    becomes(calm);
    becomes(calm);
    expect(onReleased).toHaveBeenCalledExactlyOnceWith({ conversationId });
    expect(await maySend(calm)).toBe('yes');
  });

  it('wait where it is in doubt by what is read before they may be sent', async () => {
    let now = state({ group: sailors });
    const permission = doubts.unlessHeld(
      () => now,
      async () => {
        now = state({ group });
        return 'yes-after-check';
      },
    );
    expect(await permission).toBe('held');
    becomes({ group: sailors });
    expect(onReleased).toHaveBeenCalledOnce();
  });

  it('go once that is over, although nobody has asked whether they may', () => {
    becomes({ group });
    becomes({ group: sailors });
    expect(onReleased).toHaveBeenCalledExactlyOnceWith({ conversationId });
  });

  it('are let go of none that waits for nothing', async () => {
    expect(await maySend(null)).toBe('yes');
    expect(await maySend({})).toBe('yes');
    becomes({});
    expect(onReleased).not.toHaveBeenCalled();
  });
});
