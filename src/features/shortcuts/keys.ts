/** Keys of the dashboard. The emoji picker and Escape have their own, where they are. */
export const shortcutNames = [
  'messages',
  'groups',
  'contacts',
  'profile',
  'previous',
  'next',
  'search',
  'help',
] as const;
export type ShortcutName = (typeof shortcutNames)[number];

interface PressedKey {
  readonly key: string;
  readonly code: string;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

interface KeyContext {
  /** On a Mac, Command stands for Control, and Option writes characters. */
  readonly mac: boolean;
  /** True if the focus is in a text input. */
  readonly writing: boolean;
}

const byCode: Readonly<Record<string, ShortcutName>> = {
  Digit1: 'messages',
  Digit2: 'groups',
  Digit3: 'contacts',
  Digit4: 'profile',
  ArrowUp: 'previous',
  ArrowDown: 'next',
};

/**
 * Returns the shortcut of a pressed key; null for any other key. No browser reserves one of these: those that use them
 * (Alt and a digit on Linux, Control and K) ask the page first.
 */
export function shortcutOf(event: PressedKey, { mac, writing }: KeyContext): ShortcutName | null {
  const { altKey, ctrlKey, metaKey, shiftKey } = event;
  const command = mac ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  if (command && !altKey) {
    if (event.key === '/') return 'help';
    return event.key.toLowerCase() === 'k' && !shiftKey ? 'search' : null;
  }
  if (ctrlKey || metaKey) return null;
  // Keys count by their place: on a Mac, and in other layouts, Alt and a digit type other characters.
  if (altKey) return shiftKey || (mac && writing) ? null : (byCode[event.code] ?? null);
  return event.key === '?' && !writing ? 'help' : null;
}

/** Keys as they are written on the keyboard, one after another to be held together. */
export function keyCaps(name: ShortcutName, mac: boolean): readonly string[] {
  const alt = mac ? '⌥' : 'Alt';
  const command = mac ? '⌘' : 'Ctrl';
  const caps = {
    messages: [alt, '1'],
    groups: [alt, '2'],
    contacts: [alt, '3'],
    profile: [alt, '4'],
    previous: [alt, '↑'],
    next: [alt, '↓'],
    search: [command, 'K'],
    help: ['?'],
  } as const satisfies Record<ShortcutName, readonly string[]>;
  return caps[name];
}

/** Returns a shortcut in the notation of `aria-keyshortcuts`. */
export function ariaKeys(name: ShortcutName, mac: boolean): string {
  const names: Readonly<Record<string, string>> = {
    '⌥': 'Alt',
    '⌘': 'Meta',
    Ctrl: 'Control',
    '↑': 'ArrowUp',
    '↓': 'ArrowDown',
  };
  return keyCaps(name, mac)
    .map((cap) => names[cap] ?? cap)
    .join('+');
}

export function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}
