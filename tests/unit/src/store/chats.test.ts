import { createStore } from 'jotai';
import { expect, it } from 'vitest';
import { activeConversationAtom, chatsAtom, groupKeyOf, unreadTotalAtom } from '#src/store/chats.ts';
import { chat, kaisa, veikko } from '../support/app.tsx';

it('counts what is unread in every direct chat but the open one', () => {
  const store = createStore();
  store.set(chatsAtom, {
    [veikko.id]: chat([], { unread: 4 }),
    [kaisa.id]: chat([], { unread: 2 }),
    [groupKeyOf('sailing')]: chat([], { unread: 7 }),
  });
  expect(store.get(unreadTotalAtom)).toBe(6);
  store.set(activeConversationAtom, kaisa.id);
  expect(store.get(unreadTotalAtom)).toBe(4);
  store.set(activeConversationAtom, null);
  expect(store.get(unreadTotalAtom)).toBe(6);
});
