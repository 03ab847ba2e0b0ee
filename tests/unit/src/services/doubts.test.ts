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
  it.each([
    ['something was found', { isDoubted: true }, {}],
    ['it holds somebody whom nobody vouches for', { group }, { group: sailors }],
  ])('wait where %s, and go once that is over', (_what, inDoubt, calm) => {
    expect(doubts.holds(state(inDoubt))).toBe(true);
    becomes(inDoubt);
    expect(onReleased).not.toHaveBeenCalled();
    becomes(calm);
    becomes(calm);
    expect(onReleased).toHaveBeenCalledExactlyOnceWith({ conversationId });
    expect(doubts.holds(state(calm))).toBe(false);
  });

  it('are let go of none that waits for nothing', () => {
    expect(doubts.holds(null)).toBe(false);
    expect(doubts.holds(state())).toBe(false);
    becomes({});
    expect(onReleased).not.toHaveBeenCalled();
  });
});
