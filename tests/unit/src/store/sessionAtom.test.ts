import { createStore } from 'jotai';
import { expect, it, vi } from 'vitest';
import { currentUserAtom } from '#src/store/session.ts';
import { resetSessionAtomsAtom, sessionAtom } from '#src/store/sessionAtom.ts';
import { aino } from '../support/app.tsx';

it('a session atom takes a value, or a change of the value before', () => {
  const store = createStore();
  const countAtom = sessionAtom(0);
  store.set(countAtom, 2);
  store.set(countAtom, (count) => count + 1);
  expect(store.get(countAtom)).toBe(3);
});

it('a session atom is empty at the moment when the session ends, and everybody who follows it is told', () => {
  const store = createStore();
  const textAtom = sessionAtom('');
  const heard = vi.fn<(text: string) => void>();
  store.set(textAtom, 'secret');
  store.sub(textAtom, () => heard(store.get(textAtom)));
  store.set(resetSessionAtomsAtom);
  expect(heard).toHaveBeenCalledExactlyOnceWith('');
});

it('a session atom is empty for another person, though nobody has reset it, and again when the first one is back', () => {
  const store = createStore();
  const textAtom = sessionAtom('');
  store.set(currentUserAtom, aino);
  store.set(textAtom, 'secret');
  store.set(currentUserAtom, { ...aino, id: 'somebody-else' });
  expect(store.get(textAtom)).toBe('');
  store.set(currentUserAtom, aino);
  expect(store.get(textAtom)).toBe('');
});

it('a session atom is empty when the same person logs in again, though nobody has read it in between', () => {
  const store = createStore();
  const textAtom = sessionAtom('');
  store.set(currentUserAtom, aino);
  store.set(textAtom, 'from before');
  store.set(currentUserAtom, null);
  store.set(resetSessionAtomsAtom);
  store.set(currentUserAtom, aino);
  expect(store.get(textAtom)).toBe('');
});
