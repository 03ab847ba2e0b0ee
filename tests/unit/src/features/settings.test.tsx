import { fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SettingsCard } from '#src/features/settings/SettingsCard.tsx';
import { localeStorageKey } from '#src/i18n/locales.ts';
import { preferencesAtom } from '#src/store/preferences.ts';
import { shortcutsHelpOpenAtom } from '#src/store/shortcutsHelp.ts';
import { createWorld } from '../support/app.tsx';

interface FakeBrowser {
  before?: NotificationPermission;
  /** Browsers of phones have notifications, but not for pages. */
  constructible?: boolean;
}

/** A browser that answers so when it is asked for permission. */
function browserThatAnswers(
  answer: NotificationPermission,
  { before = 'default', constructible = true }: FakeBrowser = {},
) {
  const requestPermission = vi.fn<() => Promise<NotificationPermission>>().mockResolvedValue(answer);
  class Notification {
    static readonly permission = before;
    static readonly requestPermission = requestPermission;
    constructor() {
      if (!constructible) throw new TypeError('Illegal constructor');
    }
    close() {}
  }
  vi.stubGlobal('Notification', Notification);
  return requestPermission;
}

function showSettings() {
  const world = createWorld();
  const user = world.show(<SettingsCard />);
  return { ...world, user, preferences: () => world.store.get(preferencesAtom) };
}

afterEach(() => {
  vi.unstubAllGlobals();
  localStorage.clear();
});

describe('settings', () => {
  it('show the chosen theme, and store another one', async () => {
    const { user, preferences } = showSettings();
    expect(screen.getByRole('button', { name: 'System' })).toHaveAttribute('aria-pressed', 'true');
    await user.click(screen.getByRole('button', { name: 'Dark' }));
    expect(preferences().theme).toBe('dark');
    await user.click(screen.getByRole('button', { name: 'Dark' }));
    expect(preferences().theme).toBe('dark');
  });

  it('store the language and reload the page', async () => {
    const reload = vi.spyOn(window.location, 'reload').mockReturnValue();
    const { user } = showSettings();
    expect(screen.getByRole('button', { name: 'English' })).toHaveAttribute('aria-pressed', 'true');
    await user.click(screen.getByRole('button', { name: 'Suomi' }));
    expect(localStorage.getItem(localeStorageKey)).toBe('fi');
    expect(reload).toHaveBeenCalledOnce();
  });

  it('turn the sound off', async () => {
    const { user, preferences } = showSettings();
    await user.click(screen.getByRole('switch', { name: 'Sound' }));
    expect(preferences().sound).toBe(false);
  });

  it('turn read receipts off, for both', async () => {
    const { user, preferences } = showSettings();
    expect(screen.getByText(/received and read, and you see it of them/)).toBeVisible();
    await user.click(screen.getByRole('switch', { name: 'Read receipts' }));
    expect(preferences().readReceipts).toBe(false);
  });

  it('turn off who is writing, for both', async () => {
    const { user, preferences } = showSettings();
    const control = screen.getByRole('switch', { name: 'Show who is writing' });
    expect(control).toBeChecked();
    expect(control).toHaveAccessibleDescription(/Switched off, neither/);
    await user.click(control);
    expect(preferences().typing).toBe(false);
    expect(preferences().readReceipts).toBe(true);
  });

  it('lead to the keyboard shortcuts', async () => {
    const { user, store } = showSettings();
    await user.click(screen.getByRole('button', { name: 'Show shortcuts' }));
    expect(store.get(shortcutsHelpOpenAtom)).toBe(true);
  });
});

describe('desktop notifications', () => {
  const desktop = () => screen.getByRole('switch', { name: 'Desktop notifications' });
  const messageText = () => screen.getByRole('switch', { name: 'Message text in notifications' });

  it('ask the browser only when the person turns them on, and then offer to show the text', async () => {
    const requestPermission = browserThatAnswers('granted');
    const { user, preferences } = showSettings();
    expect(requestPermission).not.toHaveBeenCalled();
    expect(messageText()).toHaveAttribute('aria-disabled', 'true');
    await user.click(desktop());
    await waitFor(() => expect(desktop()).toBeChecked());
    expect(messageText()).not.toBeChecked();
    await user.click(messageText());
    expect(preferences()).toMatchObject({ desktopNotifications: true, showMessageText: true });
    await user.click(desktop());
    await waitFor(() => expect(preferences().desktopNotifications).toBe(false));
    expect(requestPermission).toHaveBeenCalledOnce();
  });

  it('stay off and say why when the browser refuses', async () => {
    browserThatAnswers('denied');
    const { user, preferences } = showSettings();
    await user.click(desktop());
    expect(await screen.findByText(/This browser blocks notifications from this site/)).toBeVisible();
    expect(desktop()).not.toBeChecked();
    expect(preferences().desktopNotifications).toBe(false);
  });

  it('are off when the permission was taken back', () => {
    browserThatAnswers('denied', { before: 'denied' });
    localStorage.setItem('preferences', '{"desktopNotifications":true}');
    showSettings();
    expect(desktop()).not.toBeChecked();
  });

  it('are asked for on a phone that keeps the app, whose service worker can show them', async () => {
    const requestPermission = browserThatAnswers('granted', { constructible: false });
    const container = { getRegistration: async () => ({ active: {} }) };
    Object.defineProperty(navigator, 'serviceWorker', { value: container, configurable: true });
    const { user, preferences } = showSettings();
    await user.click(desktop());
    await waitFor(() => expect(preferences().desktopNotifications).toBe(true));
    expect(requestPermission).toHaveBeenCalledOnce();
    Reflect.deleteProperty(navigator, 'serviceWorker');
  });

  it('are not asked for on a phone that does not keep the app', async () => {
    const requestPermission = browserThatAnswers('granted', { constructible: false });
    const { user } = showSettings();
    await user.click(desktop());
    expect(await screen.findByText('This browser cannot show notifications.')).toBeVisible();
    expect(requestPermission).not.toHaveBeenCalled();
    expect(desktop()).not.toBeChecked();
  });

  it('say that there are none in a browser without them', () => {
    vi.stubGlobal('Notification', undefined);
    Reflect.deleteProperty(globalThis, 'Notification');
    showSettings();
    expect(screen.getByText('This browser cannot show notifications.')).toBeVisible();
    expect(desktop()).toHaveAttribute('aria-disabled', 'true');
  });
});

describe('the data of this browser', () => {
  const link = () => screen.queryByRole('link', { name: 'Keep the data…' });

  it('is asked for on a page of its own, in the look of the app', async () => {
    showSettings();
    await waitFor(() => expect(link()).toBeVisible());
    expect(link()).toHaveAttribute('href', '/storage#language=en&theme=system');
    expect(link()).toHaveAttribute('target', '_blank');
    expect(link()).toHaveAttribute('rel', 'noreferrer');
  });

  it('is asked for where the browser can’t say whether it keeps it', async () => {
    const { actions, show } = createWorld();
    actions.isStorageKept.mockRejectedValue(new Error('no answer'));
    show(<SettingsCard />);
    await waitFor(() => expect(link()).toBeVisible());
  });

  it('is kept, once the person comes back from there, and is asked for no more', async () => {
    const { actions } = showSettings();
    await waitFor(() => expect(link()).toBeVisible());
    actions.isStorageKept.mockResolvedValue(true);
    fireEvent.focus(window);
    expect(
      await screen.findByText('The browser keeps your keys and messages until you clear them.'),
    ).toBeVisible();
    expect(link()).toBeNull();
  });
});
