import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { type Mutes, mutesOf } from '#src/services/conversations/mutes.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { groupKeyOf } from '#src/store/chats.ts';
import { forGood, mutesAtom } from '#src/store/mutes.ts';
import { conversationId, me, peer, type TestDeps, testDeps } from './support/deps.ts';

type Kept = Awaited<ReturnType<CryptoApi['mutes']>>[number];

const hour = 60 * 60_000;
const groupId = '00000000-0000-4000-8000-0000000000a1';
let deps: TestDeps;
let mutes: Mutes;
let kept: Kept[];
const told = vi.fn<(event: { isHere: boolean }) => void>();

beforeEach(() => {
  kept = [];
  told.mockReset();
  deps = testDeps({
    crypto: {
      mutes: async () => kept.filter(({ until }) => until > deps.clock.now()),
      setMute: async (mute) => {
        kept = [...kept.filter((one) => one.conversationId !== mute.conversationId), mute];
      },
    },
  });
  deps.sessionEvents.on('mutesChanged', told);
  mutes = mutesOf({ deps, ownUserId: me, background: createBackground(deps.log) });
});

const shown = () => Object.keys(deps.store.get(mutesAtom));

describe('muting', () => {
  it('is kept, shown and told to the own devices', async () => {
    await mutes.set(peer, { until: forGood, mentions: true });
    expect(kept).toEqual([{ conversationId, until: forGood, mentions: true }]);
    expect(deps.store.get(mutesAtom)).toEqual({ [peer]: { until: forGood, mentions: true } });
    expect(told).toHaveBeenCalledExactlyOnceWith({ isHere: true });
    await mutes.set(peer, { until: 0, mentions: true });
    expect(shown()).toEqual([]);
  });

  it('ends by itself, each at its time', async () => {
    const now = deps.clock.now();
    await mutes.set(peer, { until: now + hour / 2, mentions: true });
    await mutes.set(groupKeyOf(groupId), { until: now + 8 * hour, mentions: true });
    await deps.clock.advance(hour / 2 - 1);
    expect(shown()).toEqual([peer, groupKeyOf(groupId)]);
    await deps.clock.advance(1);
    expect(shown()).toEqual([groupKeyOf(groupId)]);
    await deps.clock.advance(8 * hour - hour / 2 - 1);
    expect(shown()).toEqual([groupKeyOf(groupId)]);
    await deps.clock.advance(1);
    expect(shown()).toEqual([]);
  });

  it('for good stays, and one of nobody’s conversation is none', async () => {
    kept = [{ conversationId: `direct:${peer}:${groupId}`, until: forGood, mentions: true }];
    await mutes.refresh();
    expect(shown()).toEqual([]);
    await mutes.set(peer, { until: forGood, mentions: false });
    await deps.clock.advance(3 * hour);
    expect(shown()).toEqual([peer]);
  });
});
