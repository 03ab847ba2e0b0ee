import { createStore } from 'jotai';
import { beforeEach, describe, expect, it } from 'vitest';
import { dispatchWsMessage, trackPresence, wsMessageEvent } from '../../../../src/services/presence.ts';
import { presenceAtom } from '../../../../src/store/connection.ts';

describe('presence', () => {
  let store: ReturnType<typeof createStore>;
  let events: EventTarget;
  let end: () => void;

  beforeEach(() => {
    store = createStore();
    events = new EventTarget();
    end = trackPresence(store, events);
  });

  const online = () => store.get(presenceAtom);

  it('changes one person at a time', () => {
    dispatchWsMessage(events, { type: 'presence', userId: 'a', online: true });
    dispatchWsMessage(events, { type: 'presence', userId: 'b', online: false });
    expect(online()).toEqual({ a: true, b: false });
  });

  it('is replaced whole by a list of who is online', () => {
    dispatchWsMessage(events, { type: 'presence', userId: 'a', online: true });
    dispatchWsMessage(events, { type: 'online_users', userIds: ['b', 'c'] });
    expect(online()).toEqual({ b: true, c: true });
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

  it('is forgotten at the end', () => {
    dispatchWsMessage(events, { type: 'presence', userId: 'a', online: true });
    end();
    dispatchWsMessage(events, { type: 'presence', userId: 'b', online: true });
    expect(online()).toEqual({});
  });
});
