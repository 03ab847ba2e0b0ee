import { act, cleanup } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Attention } from '#src/features/attention/Attention.tsx';
import { playChime } from '#src/features/attention/chime.ts';
import { activeConversationAtom, chatsAtom, groupKeyOf, type MessageView } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { forGood, mutesAtom } from '#src/store/mutes.ts';
import { type Preferences, preferencesAtom } from '#src/store/preferences.ts';
import { aino, chat, createWorld, kaisa, loaded, message, veikko } from '../support/app.tsx';
import { group } from '../support/groups.ts';

vi.mock('#src/features/attention/chime.ts', () => ({ playChime: vi.fn<() => void>() }));

/** Notifications on the desktop. */
let desktop: FakeNotification[] = [];

class FakeNotification extends EventTarget {
  static permission: NotificationPermission = 'granted';
  readonly title: string;
  readonly options: NotificationOptions;
  constructor(title: string, options: NotificationOptions) {
    super();
    this.title = title;
    this.options = options;
    desktop = [...desktop.filter((other) => other.options.tag !== options.tag), this];
  }
  close() {
    desktop = desktop.filter((other) => other !== this);
  }
}

/** A browser that keeps the app: its service worker shows the notifications, as on a phone. */
function keepApp(): EventTarget {
  vi.stubGlobal(
    'Notification',
    class {
      static readonly permission = 'granted';
      constructor() {
        throw new TypeError('Illegal constructor');
      }
    },
  );
  const registration = {
    active: {},
    showNotification: async (title: string, options: NotificationOptions) =>
      void new FakeNotification(title, options),
    getNotifications: async ({ tag }: { tag: string }) =>
      desktop.filter(({ options }) => options.tag === tag),
  };
  const container = Object.assign(new EventTarget(), { getRegistration: async () => registration });
  Object.defineProperty(navigator, 'serviceWorker', { value: container, configurable: true });
  return container;
}

/** Web Locks of one browser: whoever has a name keeps it until the end of the test. */
function fakeLocks() {
  const held = new Set<string>();
  return {
    held,
    request: async (name: string, _options: LockOptions, task: (lock: object | null) => Promise<void>) => {
      if (held.has(name)) return task(null);
      held.add(name);
      return task({ name });
    },
  };
}

let locks = fakeLocks();
let inSight = true;
let focused = true;

const newer = { timestamp: '2027-01-01T12:00:00.000Z' };

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-12-31T12:00:00.000Z') });
  vi.mocked(playChime).mockClear();
  desktop = [];
  inSight = true;
  focused = true;
  locks = fakeLocks();
  vi.stubGlobal('Notification', FakeNotification);
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => (inSight ? 'visible' : 'hidden'));
  vi.spyOn(document, 'hasFocus').mockImplementation(() => focused);
  Object.defineProperty(navigator, 'locks', { value: locks, configurable: true });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  localStorage.clear();
  Reflect.deleteProperty(navigator, 'serviceWorker');
  window.history.replaceState(null, '', '/');
});

function watch(preferences: Partial<Preferences> = { desktopNotifications: true }) {
  const world = createWorld();
  const { store } = world;
  store.set(contactsAtom, loaded(veikko, kaisa));
  store.set(preferencesAtom, preferences);
  store.set(chatsAtom, { [veikko.id]: chat([]) });
  const onOpenChat = vi.fn<(userId: string) => void>();
  const onOpenGroup = vi.fn<(groupId: string) => void>();
  world.show(<Attention onOpenChat={onOpenChat} onOpenGroup={onOpenGroup} />);

  /** A message comes, and the tabs have had the time to agree on whose it is. */
  async function receive(text: string, { key = veikko.id, unread = 1 } = {}) {
    const received = message(veikko.id, text, newer);
    act(() => store.set(chatsAtom, (chats) => ({ ...chats, [key]: chat([received], { unread }) })));
    await act(() => vi.advanceTimersByTimeAsync(1000));
    return received;
  }
  return { ...world, receive, onOpenChat, onOpenGroup };
}

describe('a message that arrives', () => {
  it('sounds while another chat is open, without a desktop notification while the page has the focus', async () => {
    const { receive } = watch();
    await receive('Moi');
    expect(playChime).toHaveBeenCalledOnce();
    expect(desktop).toEqual([]);
  });

  it('is silent in the open chat of a page in sight', async () => {
    const { receive, store } = watch();
    store.set(activeConversationAtom, veikko.id);
    await receive('Moi');
    expect(playChime).not.toHaveBeenCalled();
  });

  it('sounds and is shown without its text in the open chat of a page out of sight', async () => {
    inSight = false;
    focused = false;
    const { receive, store } = watch();
    store.set(activeConversationAtom, veikko.id);
    await receive('Salaisuus');
    expect(playChime).toHaveBeenCalledOnce();
    expect(desktop.map(({ title }) => title)).toEqual(['New message from veikko']);
    expect(JSON.stringify(desktop[0]!.options)).not.toContain('Salaisuus');
  });

  it('is shown with its text if the person chose that', async () => {
    focused = false;
    const { receive } = watch({ desktopNotifications: true, showMessageText: true });
    await receive('Moi!');
    expect(desktop.map(({ title, options }) => [title, options.body])).toEqual([['veikko', 'Moi!']]);
  });

  it('neither sounds nor is shown if the person turned both off', async () => {
    focused = false;
    const { receive } = watch({ sound: false });
    await receive('Moi');
    expect(playChime).not.toHaveBeenCalled();
    expect(desktop).toEqual([]);
  });

  it('does not alert when it was read elsewhere meanwhile', async () => {
    focused = false;
    const { receive } = watch();
    await receive('Moi', { unread: 0 });
    expect(playChime).not.toHaveBeenCalled();
    expect(desktop).toEqual([]);
  });

  it('does not alert when another tab has claimed it', async () => {
    focused = false;
    const { store } = watch();
    const received = message(veikko.id, 'Moi', newer);
    locks.held.add(`sinetti-alert:${received.messageId}`);
    act(() => store.set(chatsAtom, { [veikko.id]: chat([received], { unread: 1 }) }));
    await act(() => vi.advanceTimersByTimeAsync(1000));
    expect(playChime).not.toHaveBeenCalled();
    expect(desktop).toEqual([]);
  });

  it('is claimed at once by the tab that shows it, so that no tab alerts', async () => {
    const { receive, store } = watch();
    store.set(activeConversationAtom, veikko.id);
    const received = await receive('Moi');
    expect(locks.held).toContain(`sinetti-alert:${received.messageId}`);
  });
});

describe('many messages that arrive', () => {
  it('make one notification for one chat, and one sound within a moment', async () => {
    focused = false;
    const { receive } = watch();
    await receive('one');
    await receive('two', { unread: 2 });
    expect(playChime).toHaveBeenCalledOnce();
    expect(desktop).toHaveLength(1);
    await act(() => vi.advanceTimersByTimeAsync(2000));
    await receive('three', { unread: 3 });
    expect(playChime).toHaveBeenCalledTimes(2);
  });

  it('make one notification for each chat, named by group', async () => {
    focused = false;
    const { receive, store } = watch({ desktopNotifications: true, showMessageText: true });
    store.set(groupsAtom, loaded(group({ id: 'g', name: 'Mökki' })));
    await receive('one');
    await receive('two', { key: groupKeyOf('g') });
    expect(desktop.map(({ title }) => title)).toEqual(['veikko', 'veikko in Mökki']);
  });
});

describe('a desktop notification', () => {
  it('opens its chat or its group', async () => {
    focused = false;
    const { receive, onOpenChat, onOpenGroup } = watch();
    await receive('one');
    await receive('two', { key: groupKeyOf('g') });
    for (const notification of desktop) notification.dispatchEvent(new Event('click'));
    expect(onOpenChat).toHaveBeenCalledExactlyOnceWith(veikko.id);
    expect(onOpenGroup).toHaveBeenCalledExactlyOnceWith('g');
    expect(desktop).toEqual([]);
  });

  it('goes when its message is deleted, by its author or in this browser', async () => {
    focused = false;
    const { receive, store } = watch();
    const first = await receive('one');
    const second = await receive('two', { unread: 2 });
    const show = (...messages: MessageView[]) =>
      act(() => store.set(chatsAtom, (chats) => ({ ...chats, [veikko.id]: chat(messages, { unread: 2 }) })));
    show(first, { ...second, reactions: [{ emoji: '👍', userIds: [aino.id] }] });
    expect(desktop).toHaveLength(1);
    show(first, { ...second, content: { kind: 'deleted' } });
    expect(desktop).toEqual([]);
    const third = await receive('three', { unread: 3 });
    expect(desktop).toHaveLength(1);
    show(first, second);
    expect(desktop).toEqual([]);
    expect(third.seq).not.toBe(second.seq);
  });

  it('goes when its chat is read', async () => {
    focused = false;
    const { receive, store } = watch();
    await receive('one');
    act(() => store.set(chatsAtom, (chats) => ({ ...chats, [veikko.id]: chat([], { unread: 0 }) })));
    expect(desktop).toEqual([]);
  });
});

describe('a notification shown by the service worker', () => {
  it('has the title without the text, and the path of its owner’s chat', async () => {
    keepApp();
    focused = false;
    const { receive } = watch();
    await receive('Salaisuus');
    expect(desktop.map(({ title }) => title)).toEqual(['New message from veikko']);
    expect(desktop[0]?.options.data).toBe(`/dashboard#${aino.id}/${veikko.id}`);
    expect(JSON.stringify(desktop[0]?.options)).not.toContain('Salaisuus');
  });

  it('goes when its chat is read, and when the person signs out', async () => {
    keepApp();
    focused = false;
    const { receive, store } = watch();
    await receive('one');
    await receive('two', { key: groupKeyOf('g') });
    expect(desktop).toHaveLength(2);
    await act(async () =>
      store.set(chatsAtom, (chats) => ({ ...chats, [veikko.id]: chat([], { unread: 0 }) })),
    );
    expect(desktop.map(({ options }) => options.tag)).toEqual([`sinetti-${groupKeyOf('g')}`]);
    cleanup();
    await act(() => vi.advanceTimersByTimeAsync(0));
    expect(desktop).toEqual([]);
  });

  it('opens its chat for its owner only', async () => {
    const container = keepApp();
    const { onOpenChat, onOpenGroup } = watch();
    const tell = (path: unknown) =>
      container.dispatchEvent(new MessageEvent('message', { data: { type: 'open-chat', path } }));
    tell(`/dashboard#somebody-else/${veikko.id}`);
    tell(`//evil.example#${aino.id}/${veikko.id}`);
    expect(onOpenChat).not.toHaveBeenCalled();
    tell(`/dashboard#${aino.id}/${veikko.id}`);
    tell(`/dashboard#${aino.id}/${groupKeyOf('g')}`);
    expect(onOpenChat).toHaveBeenCalledExactlyOnceWith(veikko.id);
    expect(onOpenGroup).toHaveBeenCalledExactlyOnceWith('g');
  });

  it('opens its chat in a new tab, once', async () => {
    window.history.replaceState(null, '', `/dashboard#${aino.id}/${veikko.id}`);
    const { onOpenChat } = watch();
    expect(onOpenChat).toHaveBeenCalledExactlyOnceWith(veikko.id);
    expect(window.location.hash).toBe('');
    expect(window.location.pathname).toBe('/dashboard');
  });
});

describe('the icon of the tab', () => {
  it('is marked while something is unread', async () => {
    const icon = document.createElement('link');
    icon.rel = 'icon';
    icon.href = '/favicon.svg';
    document.head.append(icon);
    const { receive, store } = watch();
    expect(icon.getAttribute('href')).toBe('/favicon.svg');
    await receive('Moi');
    expect(icon.getAttribute('href')).toBe('/favicon-unread.svg');
    act(() => store.set(chatsAtom, { [veikko.id]: chat([], { unread: 0 }) }));
    expect(icon.getAttribute('href')).toBe('/favicon.svg');
    icon.remove();
  });
});

describe('a message in a muted conversation', () => {
  const key = groupKeyOf('g1');
  const mention = { kind: 'text', text: `[@aino](sinetti:user/${aino.id})`, isMarkdown: true } as const;

  it('neither sounds nor notifies, unless it mentions somebody who is to be told, and does once that is over', async () => {
    focused = false;
    const { store } = watch();
    store.set(groupsAtom, loaded(group({ id: 'g1' })));
    act(() => store.set(chatsAtom, { [key]: chat([]) }));
    async function arrives(content: string | typeof mention): Promise<[sounds: number, shown: number]> {
      vi.mocked(playChime).mockClear();
      desktop = [];
      const newest = message(kaisa.id, content, newer);
      act(() => store.set(chatsAtom, { [key]: chat([newest], { unread: 1 }) }));
      await act(() => vi.advanceTimersByTimeAsync(3000));
      return [vi.mocked(playChime).mock.calls.length, desktop.length];
    }
    expect(await arrives('Loud')).toEqual([1, 1]);
    const until = forGood;
    act(() => store.set(mutesAtom, { [key]: { until, mentions: true } }));
    expect(await arrives('Quiet')).toEqual([0, 0]);
    expect(await arrives(mention)).toEqual([1, 1]);
    act(() => store.set(mutesAtom, { [key]: { until, mentions: false } }));
    expect(await arrives(mention)).toEqual([0, 0]);
    act(() => store.set(mutesAtom, {}));
    expect(await arrives('Loud again')).toEqual([1, 1]);
  });
});
