import { atom } from 'jotai';

export const preferencesStorageKey = 'preferences';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** The preferences of this browser, whoever is signed in. */
export interface Preferences {
  /** True where a new message sounds. */
  readonly sound: boolean;
  /** Off until chosen, as the browser asks for permission then. */
  readonly desktopNotifications: boolean;
  /** True where desktop notifications show the text of the message. */
  readonly showMessageText: boolean;
  /** True where others see how far one has received and read, and one sees it of them. */
  readonly readReceipts: boolean;
  /** True where others see that one is writing, and one sees it of them. */
  readonly typing: boolean;
  readonly theme: Theme;
}

/**
 * Parses the preferences that a browser keeps, each by itself: a value that is not understood counts as not chosen yet,
 * and must not cost the others. Read before the first paint, so without a library of schemas.
 */
export function parsePreferences(stored: string | null): Preferences {
  const kept = jsonOf(stored);
  const flag = (name: keyof Preferences, fallback: boolean) =>
    typeof kept[name] === 'boolean' ? kept[name] : fallback;
  return {
    sound: flag('sound', true),
    desktopNotifications: flag('desktopNotifications', false),
    showMessageText: flag('showMessageText', false),
    readReceipts: flag('readReceipts', true),
    typing: flag('typing', true),
    theme: themes.find((theme) => theme === kept.theme) ?? 'system',
  };
}

function jsonOf(text: string | null): Partial<Record<keyof Preferences, unknown>> {
  try {
    return Object(JSON.parse(text ?? ''));
  } catch {
    return {};
  }
}

const storedAtom = atom<Preferences | null>(null);
storedAtom.onMount = (set) => {
  const onStorage = ({ key, newValue }: StorageEvent) => {
    // Another tab has changed them; a null key means that everything was cleared.
    if (key === preferencesStorageKey || key === null) set(parsePreferences(newValue));
  };
  window.addEventListener('storage', onStorage);
  return () => window.removeEventListener('storage', onStorage);
};

/** Kept in this browser and shared by its tabs. */
export const preferencesAtom = atom(
  (get) => get(storedAtom) ?? parsePreferences(localStorage.getItem(preferencesStorageKey)),
  (get, set, change: Partial<Preferences>) => {
    const next = { ...get(preferencesAtom), ...change };
    set(storedAtom, next);
    localStorage.setItem(preferencesStorageKey, JSON.stringify(next));
  },
);
