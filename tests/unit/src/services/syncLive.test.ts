import { describe, expect, it, vi } from 'vitest';
import { timings } from '#src/services/core/timings.ts';
import { conversationId, me, peer } from './support/deps.ts';
import { deps, device, event, memberOf, onProcessed, relay, sync, texts, withSync } from './support/sync.ts';

withSync();

describe('what is still told of a conversation that was forgotten', () => {
  it('has nothing fetched, not even after the wait for a delivery, until something asks for it anew', async () => {
    await memberOf(1);
    const available = { type: 'available', conversationId, seq: 3 } as const;
    relay.append('application', 'late', peer);
    const told = sync.onAvailable(available, true);
    await sync.forget(conversationId);
    Object.assign(device, { membership: 'none', lastSeq: 0 });
    await deps.clock.advance(timings.streamedEntry);
    await told;
    await sync.onAvailable(available, false);
    await sync.onEntry(event(3));
    expect(relay.calls).toEqual([]);
    await sync.catchUp(conversationId);
    expect(relay.calls).not.toEqual([]);
  });
});

describe('live entries of a log', () => {
  it('are processed in the order of the log, in one batch that is told once', async () => {
    await memberOf(0);
    const onChanged = vi.fn<() => void>();
    deps.sessionEvents.on('conversationsChanged', onChanged);
    for (const text of ['a', 'b', 'c']) relay.append('application', text, peer);
    await Promise.all([sync.onEntry(event(3)), sync.onEntry(event(2)), sync.onEntry(event(4))]);
    expect(texts()).toEqual(['a', 'b', 'c']);
    expect(onProcessed).toHaveBeenCalledTimes(1);
    expect(onChanged).not.toHaveBeenCalled();
    expect(relay.calls).toEqual([]);
  });

  it('delivered twice are processed once', async () => {
    await memberOf(0);
    relay.append('application', 'a', peer);
    await Promise.all([sync.onEntry(event(2)), sync.onEntry(event(2))]);
    expect(texts()).toEqual(['a']);
  });

  it('in a flood are processed by pages, the rest from the log', async () => {
    await memberOf(0);
    for (let number = 1; number <= 450; number += 1) relay.append('application', `text ${number}`, peer);
    await Promise.all(relay.log.slice(1).map(({ seq }) => sync.onEntry(event(seq))));
    expect(texts()).toHaveLength(450);
    expect(Math.max(...onProcessed.mock.calls.map(([{ messages }]) => messages.length))).toBe(200);
  });

  it('that leave a gap have it fetched', async () => {
    await memberOf(0);
    for (const text of ['a', 'b', 'c']) relay.append('application', text, peer);
    await sync.onEntry(event(4));
    expect(texts()).toEqual(['a', 'b', 'c']);
    expect(relay.calls).toEqual(['listUserMessages after 1']);
  });

  it('seen before change nothing', async () => {
    await memberOf(2);
    await sync.onEntry(event(2));
    await sync.onEntry(event(3));
    expect(texts()).toEqual(['text 1', 'text 2']);
  });

  it('let a device in that is outside', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    await sync.onEntry(event(2));
    expect(texts()).toEqual(['text 1']);
  });

  it("of other people's conversations are ignored", async () => {
    relay.begin(peer, 1);
    const theirs = `direct:${peer}:00000000-0000-4000-8000-000000000009`;
    await sync.onEntry({ ...event(1), conversationId: theirs });
    await sync.onAvailable({ type: 'available', conversationId: theirs, seq: 1 }, false);
    expect(relay.calls).toEqual([]);
    expect(onProcessed).not.toHaveBeenCalled();
  });
});

describe('read positions', () => {
  it("are taken from delivered events of one's own, as read on another device", async () => {
    await memberOf(3);
    await sync.onDelivered({ type: 'delivered', conversationId, messageId: 'm', readerId: peer, seq: 3 });
    await sync.onDelivered({ type: 'delivered', conversationId, messageId: 'm', readerId: me, seq: 2 });
    expect(device).toMatchObject({ readHere: 0, readSeq: 2 });
  });

  it('of strangers are ignored', async () => {
    await memberOf(3);
    const stranger = '00000000-0000-4000-8000-000000000009';
    await sync.onDelivered({ type: 'delivered', conversationId, messageId: 'm', readerId: stranger, seq: 3 });
    expect(device).toMatchObject({ readHere: 0, readSeq: 0 });
  });
});
