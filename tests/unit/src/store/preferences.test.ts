import { createStore } from 'jotai';
import { afterEach, describe, expect, it } from 'vitest';
import { parsePreferences, preferencesAtom, preferencesStorageKey } from '#src/store/preferences.ts';

const defaults = {
  sound: true,
  desktopNotifications: false,
  showMessageText: false,
  readReceipts: true,
  typing: true,
  theme: 'system',
};

afterEach(() => localStorage.clear());

describe('what a browser keeps', () => {
  it.each([null, '', 'not json', 'null', '[]', '"text"', '42', '{}'])(
    '%j counts as nothing chosen',
    (stored) => {
      expect(parsePreferences(stored)).toEqual(defaults);
    },
  );

  it('keeps what is understood beside what is not', () => {
    const stored = '{"sound":false,"theme":"neon","showMessageText":"yes","desktopNotifications":true,"x":1}';
    expect(parsePreferences(stored)).toEqual({ ...defaults, sound: false, desktopNotifications: true });
  });
});

describe('preferences', () => {
  it('are there again in the next session of this browser', () => {
    createStore().set(preferencesAtom, { theme: 'dark' });
    createStore().set(preferencesAtom, { sound: false });
    expect(createStore().get(preferencesAtom)).toEqual({ ...defaults, theme: 'dark', sound: false });
  });

  it('follow what another tab chooses', () => {
    const store = createStore();
    store.sub(preferencesAtom, () => undefined);
    const tell = (key: string | null, newValue: string | null) =>
      window.dispatchEvent(new StorageEvent('storage', { key, newValue }));
    tell('locale', '{"theme":"dark"}');
    expect(store.get(preferencesAtom).theme).toBe('system');
    tell(preferencesStorageKey, '{"theme":"dark"}');
    expect(store.get(preferencesAtom).theme).toBe('dark');
    tell(null, null);
    expect(store.get(preferencesAtom)).toEqual(defaults);
  });
});
