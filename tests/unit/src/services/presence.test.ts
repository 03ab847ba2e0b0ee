import { createStore } from 'jotai';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  dispatchWsMessage,
  type PresenceTracking,
  trackPresence,
  wsMessageEvent,
} from '#src/services/people/presence.ts';
import { isOnlineAtom, presenceAtom } from '#src/store/connection.ts';
import { FakeClock } from '../net/support/fakeClock.ts';

describe('the presence of contacts', () => {
  let store: ReturnType<typeof createStore>;
  let events: EventTarget;
  let clock: FakeClock;
  let tracking: PresenceTracking;

  beforeEach(() => {
    store = createStore();
    events = new EventTarget();
    clock = new FakeClock();
    tracking = trackPresence({ store, events, clock });
  });

  const online = () => store.get(presenceAtom).online;
  const of = (userId: string) => store.get(isOnlineAtom)(userId);

  it('changes one person at a time', () => {
    dispatchWsMessage(events, { type: 'presence', userId: 'a', online: true });
    dispatchWsMessage(events, { type: 'presence', userId: 'b', online: false });
    expect(online()).toEqual({ a: true, b: false });
    expect([of('a'), of('b'), of('c')]).toEqual([true, false, undefined]);
  });

  it('is replaced whole by a list of who is online', () => {
    dispatchWsMessage(events, { type: 'presence', userId: 'a', online: true });
    dispatchWsMessage(events, { type: 'online_users', userIds: ['b', 'c'] });
    expect(online()).toEqual({ b: true, c: true });
    expect([of('a'), of('b')]).toEqual([false, true]);
  });

  it('is not moved by a new message', () => {
    dispatchWsMessage(events, { type: 'message', userId: 'a' });
    expect(online()).toEqual({});
  });

  it.each([
    ['no detail', undefined],
    ['text', 'presence'],
    ['no type', { userId: 'a', online: true }],
    ['a number for an id', { type: 'presence', userId: 1, online: true }],
    ['a word for online', { type: 'presence', userId: 'a', online: 'yes' }],
    ['no list', { type: 'online_users', userIds: 'a' }],
    ['a list of numbers', { type: 'online_users', userIds: [1] }],
  ])('takes no notice of an event with %s', (_name, detail) => {
    events.dispatchEvent(new CustomEvent(wsMessageEvent, { detail }));
    expect(online()).toEqual({});
  });

  it('takes no notice of an event that carries nothing', () => {
    events.dispatchEvent(new Event(wsMessageEvent));
    expect(online()).toEqual({});
  });

  it('holds for 5 seconds without the socket, and is unknown then until there is a list', async () => {
    dispatchWsMessage(events, { type: 'online_users', userIds: ['a'] });
    tracking.lost();
    await clock.advance(4_999);
    tracking.lost();
    expect([of('a'), of('b')]).toEqual([true, false]);
    await clock.advance(1);
    expect([of('a'), of('b')]).toEqual([undefined, undefined]);
    // By the topic of the open chat, which is no list.
    dispatchWsMessage(events, { type: 'presence', userId: 'a', online: false });
    tracking.lost();
    await clock.advance(5_000);
    expect([of('a'), of('b')]).toEqual([false, undefined]);
    dispatchWsMessage(events, { type: 'online_users', userIds: ['b'] });
    expect([of('a'), of('b')]).toEqual([false, true]);
  });

  it('is not forgotten when the socket is back in time', async () => {
    dispatchWsMessage(events, { type: 'online_users', userIds: ['a'] });
    tracking.lost();
    await clock.advance(2_000);
    dispatchWsMessage(events, { type: 'online_users', userIds: ['a'] });
    await clock.advance(10_000);
    expect(of('a')).toBe(true);
  });

  it('is forgotten at the end', () => {
    dispatchWsMessage(events, { type: 'presence', userId: 'a', online: true });
    tracking.lost();
    tracking.end();
    expect(clock.pending).toBe(0);
    dispatchWsMessage(events, { type: 'presence', userId: 'b', online: true });
    expect(online()).toEqual({});
  });
});
