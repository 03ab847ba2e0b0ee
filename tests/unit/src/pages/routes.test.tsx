import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { LandingPage } from '#src/pages/landing/LandingPage.tsx';
import { activeChatAtom, chatsAtom } from '#src/store/chats.ts';
import { contactsAtom, incomingRequestsAtom } from '#src/store/contacts.ts';
import { authErrorAtom, authStatusAtom, connectionBannerAtom, currentUserAtom } from '#src/store/session.ts';
import { aino, chat, createWorld, loaded, message, veikko, withOpening } from '../support/app.tsx';
import { openApp } from '../support/openApp.tsx';

/** The whole application at an address, with fake actions behind it. */
function open(path: string, { signedIn }: { signedIn: boolean }) {
  const world = createWorld({ signedIn });
  let opened: ReturnType<typeof openApp> | undefined;
  const signIn = () => {
    world.store.set(currentUserAtom, aino);
    world.store.set(authStatusAtom, 'success');
  };
  const signOut = () => {
    world.store.set(currentUserAtom, null);
    world.store.set(authStatusAtom, 'idle');
  };
  world.actions.logIn.mockImplementation(async () => {
    world.store.set(authStatusAtom, 'loading');
    await Promise.resolve();
    signIn();
  });
  world.actions.signUp.mockImplementation(async () => signIn());
  world.actions.logOut.mockImplementation(async () => signOut());
  withOpening(world);
  return {
    ...world,
    signOut,
    path: () => opened?.path(),
    start: () => {
      opened = openApp(world.store, path);
      return userEvent.setup();
    },
  };
}

describe('where a path leads', () => {
  it.each([
    ['/', '/', 'Sealed before it leaves you.'],
    ['/login', '/login', 'Welcome back'],
    ['/signup', '/signup', 'Create your account'],
    ['/dashboard', '/login', 'Welcome back'],
    ['/privacy-policy', '/privacy-policy', 'Privacy Policy'],
    ['/terms', '/terms', 'Terms'],
    ['/about', '/about', 'About'],
    ['/contact', '/contact', 'Contact'],
    ['/prove', '/prove', 'Prove It'],
    ['/no/such/page', '/', 'Sealed before it leaves you.'],
  ])('a visitor at %s: %s', async (path, expected, heading) => {
    const app = open(path, { signedIn: false });
    app.start();
    expect(await screen.findByRole('heading', { level: 1, name: heading })).toBeVisible();
    expect(app.path()).toBe(expected);
  });

  it.each([
    ['/', '/dashboard'],
    ['/login', '/dashboard'],
    ['/signup', '/dashboard'],
    ['/dashboard', '/dashboard'],
    ['/nonsense', '/dashboard'],
    ['/terms', '/terms'],
  ])('a member at %s: %s', async (path, expected) => {
    const app = open(path, { signedIn: true });
    app.start();
    await waitFor(() => expect(app.path()).toBe(expected));
    expect(await screen.findByRole(path === '/terms' ? 'contentinfo' : 'tablist')).toBeVisible();
  });

  it('is decided only once it is known whether there is a session', async () => {
    const app = open('/dashboard', { signedIn: false });
    app.store.set(authStatusAtom, 'loading');
    app.start();
    expect(await screen.findByText('Loading...')).toBeVisible();
    expect(app.path()).toBe('/dashboard');
    act(() => {
      app.store.set(currentUserAtom, aino);
      app.store.set(authStatusAtom, 'success');
    });
    expect(await screen.findByRole('tab', { name: /Messages/ })).toBeVisible();
  });

  it('says on the log-in form that the session has expired', async () => {
    const app = open('/dashboard', { signedIn: true });
    app.start();
    await screen.findByRole('tab', { name: /Messages/ });
    act(() => {
      app.signOut();
      app.store.set(authErrorAtom, 'Session expired. Please login again.');
    });
    expect(await screen.findByText('Session expired. Please login again.')).toBeVisible();
    expect(app.path()).toBe('/login');
  });
});

describe('a page that one comes to', () => {
  it.each(['About', 'Contact', 'Privacy Policy', 'Terms'])('begins at its top: %s', async (name) => {
    const scrollTo = vi.spyOn(window, 'scrollTo').mockImplementation(() => undefined);
    const user = open('/', { signedIn: false }).start();
    await user.click(within(await screen.findByRole('contentinfo')).getByRole('link', { name }));
    expect(await screen.findByRole('heading', { level: 1, name })).toBeVisible();
    expect(scrollTo).toHaveBeenCalledExactlyOnceWith(0, 0);
    scrollTo.mockRestore();
  });
});

describe('the forms of visitors', () => {
  it('lead to each other', async () => {
    const user = open('/login', { signedIn: false }).start();
    await user.click(await screen.findByRole('link', { name: 'Create an account' }));
    expect(await screen.findByRole('button', { name: 'Sign Up' })).toBeVisible();
    await user.click(within(screen.getByRole('main')).getByRole('link', { name: 'Log in' }));
    expect(await screen.findByRole('button', { name: 'Log In' })).toBeVisible();
  });
});

describe('the routes of a session', () => {
  it('logging in keeps the form while it is busy and leads to the dashboard', async () => {
    const app = open('/login', { signedIn: false });
    const user = app.start();
    await user.type(await screen.findByLabelText('Username'), 'aino');
    await user.type(screen.getByLabelText('Password'), 'secret{Enter}');
    expect(await screen.findByRole('tab', { name: /Messages/ })).toBeVisible();
    expect(app.path()).toBe('/dashboard');
  });

  it('signing up shows its success sentence before the dashboard', async () => {
    const app = open('/signup', { signedIn: false });
    const user = app.start();
    await user.type(await screen.findByLabelText('Username'), 'aino');
    await user.type(screen.getByLabelText('Email'), 'aino@example.fi');
    await user.type(screen.getByLabelText('Password'), 'secret');
    await user.click(screen.getByRole('checkbox'));
    await user.click(screen.getByRole('button', { name: 'Sign Up' }));
    expect(
      await screen.findByText('Account created successfully! Redirecting to dashboard...'),
    ).toBeVisible();
    expect(app.path()).toBe('/signup');
    await waitFor(() => expect(app.path()).toBe('/dashboard'));
  });

  it('logging out leads home, and losing the session later to the log-in form', async () => {
    const app = open('/dashboard', { signedIn: true });
    const user = app.start();
    await user.click(await screen.findByRole('button', { name: 'Logout' }));
    await waitFor(() => expect(app.path()).toBe('/'));

    await user.click(await screen.findByRole('link', { name: 'Log In' }));
    await user.type(await screen.findByLabelText('Username'), 'aino');
    await user.type(screen.getByLabelText('Password'), 'secret{Enter}');
    await screen.findByRole('tab', { name: /Messages/ });
    act(() => app.signOut());
    await waitFor(() => expect(app.path()).toBe('/login'));
  });
});

describe('a session that does not answer', () => {
  it('leads from its banner to the log-in form', async () => {
    const app = open('/dashboard', { signedIn: true });
    app.store.set(connectionBannerAtom, true);
    const user = app.start();
    await user.click(await screen.findByRole('button', { name: 'Re-login' }));
    expect(await screen.findByLabelText('Username')).toBeVisible();
    expect(app.path()).toBe('/login');
  });
});

describe('the landing page', () => {
  it('names what the product offers and leads to the other pages', async () => {
    const app = open('/', { signedIn: false });
    app.start();
    await screen.findByRole('link', { name: 'Get Started' });
    const header = within(screen.getByRole('banner'));
    expect(header.getByRole('link', { name: 'Log In' })).toHaveAttribute('href', '/login');
    expect(header.getByRole('link', { name: 'Sign Up' })).toHaveAttribute('href', '/signup');
    const main = within(screen.getByRole('main'));
    for (const name of [
      'What that means for you',
      'Built in the open, on open standards',
      'Start a sealed conversation',
    ]) {
      expect(main.getByRole('heading', { level: 2, name })).toBeVisible();
    }
    for (const name of [
      'End-to-end encryption',
      'GDPR',
      'Real-time messaging',
      'Scalable infrastructure',
      'User-friendly interface',
      'Data portability',
    ]) {
      expect(main.getByRole('heading', { level: 3, name })).toBeVisible();
    }
    expect(main.getByRole('link', { name: 'Get Started' })).toHaveAttribute('href', '/signup');
    expect(main.getByRole('link', { name: 'Learn More' })).toHaveAttribute('href', '#features');
    const footer = within(screen.getByRole('contentinfo'));
    expect(footer.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual([
      '/about',
      '/prove',
      '/contact',
      '/privacy-policy',
      '/terms',
    ]);
    expect(document.body).not.toHaveTextContent('27001');
  });

  const goodbye = "Your account has been successfully deleted. We're sorry to see you go!";

  it('says goodbye to a deleted account for 5 seconds, and cleans the address at once', async () => {
    vi.useFakeTimers();
    try {
      createWorld({ signedIn: false }).show(<LandingPage />, '/?deleted=true');
      await act(() => vi.advanceTimersByTimeAsync(4999));
      expect(screen.getByText('address: /')).toBeVisible();
      expect(screen.getByText(goodbye)).toBeVisible();
      await act(() => vi.advanceTimersByTimeAsync(1));
      expect(screen.queryByText(goodbye)).toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });

  it('stops saying goodbye on request', async () => {
    const user = open('/?deleted=true', { signedIn: false }).start();
    expect(await screen.findByText(goodbye)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByText(goodbye)).toBeNull();
  });

  it.each(['/', '/?deleted=1', '/?deleted=<script>'])('says no goodbye at %s', async (path) => {
    open(path, { signedIn: false }).start();
    await screen.findByRole('link', { name: 'Get Started' });
    expect(screen.queryByText(/successfully deleted/)).toBeNull();
  });
});

describe('the dashboard', () => {
  async function openDashboard() {
    const app = open('/dashboard', { signedIn: true });
    app.store.set(contactsAtom, loaded(veikko));
    app.store.set(chatsAtom, { [veikko.id]: chat([message(veikko.id, 'Hello')], { unread: 4 }) });
    app.store.set(
      incomingRequestsAtom,
      loaded({ id: 'request-1', from_user: { id: 'eino-id', username: 'eino', email: '' }, created_at: '' }),
    );
    const user = app.start();
    await screen.findByRole('tab', { name: /Messages/ });
    return { ...app, user };
  }

  it('has the product, the notifications, the user and Logout in its header', async () => {
    await openDashboard();
    const header = within(screen.getByRole('banner'));
    expect(header.getByText('Sinetti')).toBeVisible();
    expect(header.getByRole('button', { name: 'Notifications' })).toBeVisible();
    expect(header.getByText('aino')).toBeVisible();
    expect(header.getByRole('button', { name: 'Logout' })).toBeVisible();
    expect(screen.getAllByRole('tab').map((tab) => tab.textContent)).toEqual([
      expect.stringContaining('Messages'),
      expect.stringContaining('Groups'),
      expect.stringContaining('Contacts'),
      expect.stringContaining('Profile'),
    ]);
  });

  it('counts unread messages and pending requests on its tabs and in the title', async () => {
    await openDashboard();
    expect(screen.getByRole('tab', { name: 'Messages 4 unread messages' })).toBeVisible();
    expect(screen.getByRole('tab', { name: 'Contacts 1 pending contact request' })).toBeVisible();
    expect(document.title).toBe('(4) Messages – Sinetti');
  });

  it('opens a chat from the contacts, and closes it with the tab', async () => {
    const { user, actions, store } = await openDashboard();
    await user.click(screen.getByRole('tab', { name: /Contacts/ }));
    await user.click(await screen.findByRole('button', { name: 'Message' }));
    expect(await screen.findByRole('textbox', { name: 'Message to veikko' })).toBeVisible();
    expect(store.get(activeChatAtom)).toBe(veikko.id);
    await user.click(screen.getByRole('tab', { name: 'Profile' }));
    await waitFor(() => expect(actions.openChat).toHaveBeenLastCalledWith(null));
    await user.click(screen.getByRole('tab', { name: /Messages/ }));
    expect(await screen.findByRole('textbox', { name: 'Message to veikko' })).toBeVisible();
  });

  it('leads from no contacts to the search for people', async () => {
    const { user, store } = await openDashboard();
    act(() => {
      store.set(contactsAtom, loaded());
      store.set(chatsAtom, {});
    });
    await user.click(screen.getByRole('button', { name: 'Find Contacts' }));
    expect(await screen.findByPlaceholderText('Search by email or username...')).toHaveFocus();
    await user.click(screen.getByRole('button', { name: 'Back to contacts' }));
    expect(screen.getByRole('heading', { name: 'My Contacts' })).toBeVisible();
  });

  it('shows one’s own profile', async () => {
    const { user } = await openDashboard();
    await user.click(screen.getByRole('tab', { name: 'Profile' }));
    expect(await within(screen.getByRole('tabpanel')).findByText('aino@example.fi')).toBeVisible();
  });

  it('moves between tabs by arrow keys', async () => {
    const { user } = await openDashboard();
    await user.click(screen.getByRole('tab', { name: /Messages/ }));
    await user.keyboard('{ArrowDown}');
    expect(screen.getByRole('tab', { name: 'Groups' })).toHaveFocus();
    await waitFor(() =>
      expect(screen.getByRole('tab', { name: 'Groups' })).toHaveAttribute('aria-selected', 'true'),
    );
  });
});
