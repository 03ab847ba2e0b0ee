import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { MessageAnnouncer } from '#src/features/messages/Announcer.tsx';
import { ConnectionBanner } from '#src/features/session/ConnectionBanner.tsx';
import { ConnectionStatus } from '#src/features/session/ConnectionStatus.tsx';
import { LogoutControl } from '#src/features/session/LogoutControl.tsx';
import { OfflineNotice } from '#src/features/session/OfflineNotice.tsx';
import { ReleaseBar } from '#src/features/session/ReleaseBar.tsx';
import { UpdateBar } from '#src/features/session/UpdateBar.tsx';
import { AppError } from '#src/lib/appError.ts';
import { chatsAtom } from '#src/store/chats.ts';
import { catchUpAtom, offlineAtom, realtimeStatusAtom, relayTroubleAtom } from '#src/store/connection.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { connectionBannerAtom } from '#src/store/session.ts';
import { readyUpdateAtom } from '#src/store/update.ts';
import { aino, chat, createWorld, loaded, message, veikko } from '../support/app.tsx';

describe('logging out', () => {
  it('ends the session by one click', async () => {
    const { actions, show } = createWorld();
    const user = show(<LogoutControl />);
    await user.click(screen.getByRole('button', { name: 'Logout' }));
    expect(actions.logOut).toHaveBeenCalledExactlyOnceWith({ erase: false });
  });

  it('erases the data of this browser only after asking', async () => {
    const { actions, show } = createWorld();
    const user = show(<LogoutControl />);
    const ask = async () => {
      await user.click(screen.getByRole('button', { name: 'More logout options' }));
      await user.click(await screen.findByRole('menuitem', { name: 'Log out and erase this browser' }));
      return within(await screen.findByRole('alertdialog', { name: 'Erase this browser?' }));
    };
    await user.click((await ask()).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(actions.logOut).not.toHaveBeenCalled();

    await user.click((await ask()).getByRole('button', { name: 'Log out and erase' }));
    expect(actions.logOut).toHaveBeenCalledExactlyOnceWith({ erase: true });
  });

  it('says when it fails', async () => {
    const { actions, show, toasts } = createWorld();
    actions.logOut.mockRejectedValue(new AppError('locked', 'Close the other tabs first.'));
    const user = show(<LogoutControl />);
    await user.click(screen.getByRole('button', { name: 'Logout' }));
    await waitFor(() => expect(toasts()).toEqual(['error: Close the other tabs first.']));
    expect(screen.getByRole('button', { name: 'Logout' })).toBeEnabled();
  });
});

describe('the state of the connection', () => {
  it('has a banner with a way out when the session does not answer', async () => {
    const { store, actions, show } = createWorld();
    const user = show(<ConnectionBanner />);
    expect(screen.queryByRole('status')).toBeNull();
    act(() => store.set(connectionBannerAtom, true));
    expect(screen.getByRole('status')).toHaveTextContent(
      'Connection error. Please check your internet connection or try logging in again.',
    );
    await user.click(screen.getByRole('button', { name: 'Re-login' }));
    expect(actions.logOut).toHaveBeenCalledExactlyOnceWith({ erase: false });
  });

  it('says its state only while it is not up', () => {
    const { store, show } = createWorld();
    show(<ConnectionStatus />);
    for (const [status, text] of [
      ['connecting', 'Connecting…'],
      ['connected', ''],
      ['reconnecting', 'Reconnecting…'],
      ['closed', 'Offline'],
    ] as const) {
      act(() => store.set(realtimeStatusAtom, status));
      expect(screen.getByRole('status').textContent).toBe(text);
    }
  });

  it('says while offline that messages wait, whatever the sockets say', () => {
    const { store, show } = createWorld();
    show(<ConnectionStatus />);
    act(() => {
      store.set(realtimeStatusAtom, 'reconnecting');
      store.set(offlineAtom, true);
    });
    expect(screen.getByRole('status')).toHaveTextContent('Offline: what you write is sent later');
  });

  it('says calmly that the server does not answer, whatever the sockets try', () => {
    const { store, show } = createWorld();
    show(<ConnectionStatus />);
    act(() => {
      store.set(realtimeStatusAtom, 'reconnecting');
      store.set(relayTroubleAtom, 'silent');
    });
    expect(screen.getByRole('status')).toHaveTextContent(/^Offline: the server does not answer$/);
    act(() => store.set(relayTroubleAtom, null));
    expect(screen.getByRole('status')).toHaveTextContent('Reconnecting…');
  });

  it.each([
    [false, 'Server problem: trying again…'],
    [true, 'Server problem: what you write is sent later'],
  ])(
    'calls a server that answers with a problem not offline, whether what is written waits (%s) or not',
    (waits, text) => {
      const { store, show } = createWorld();
      show(<ConnectionStatus />);
      act(() => {
        store.set(realtimeStatusAtom, 'reconnecting');
        store.set(offlineAtom, waits);
        store.set(relayTroubleAtom, 'failing');
      });
      expect(screen.getByRole('status').textContent).toBe(text);
    },
  );

  it('counts the messages caught up with, without announcing every number', () => {
    const { store, show } = createWorld();
    store.set(realtimeStatusAtom, 'connected');
    show(<ConnectionStatus />);
    act(() => store.set(catchUpAtom, { done: 1200, of: 3400 }));
    const line = screen.getByText('Catching up… 1,200 of 3,400 messages');
    expect(line.closest('[aria-live]')).toHaveAttribute('aria-live', 'off');
    // More has come than was known of.
    act(() => store.set(catchUpAtom, { done: 3500, of: 3400 }));
    expect(screen.getByText('Catching up… 3,500 of 3,500 messages')).toBeInTheDocument();
    act(() => store.set(catchUpAtom, { done: 50, of: null }));
    expect(screen.getByText('Loading earlier messages… 50')).toBeInTheDocument();
    act(() => store.set(catchUpAtom, null));
    expect(screen.getByRole('status')).toBeEmptyDOMElement();
  });
});

describe('a page that is offline', () => {
  it('forms that need a connection say so', () => {
    const { store, show } = createWorld({ signedIn: false });
    show(<OfflineNotice />);
    expect(screen.queryByRole('status')).toBeNull();
    act(() => store.set(offlineAtom, true));
    expect(screen.getByRole('status')).toHaveTextContent(
      'You are offline. Logging in and signing up need a connection.',
    );
  });
});

describe('a new version of the app', () => {
  it('is offered, and used when the person wants it', async () => {
    const { store, show } = createWorld();
    const apply = vi.fn<() => void>();
    const user = show(<UpdateBar />);
    expect(screen.queryByRole('status')).toBeNull();
    act(() => store.set(readyUpdateAtom, { apply }));
    expect(screen.getByRole('status')).toHaveTextContent('A new version is ready');
    expect(apply).not.toHaveBeenCalled();
    await user.click(screen.getByRole('button', { name: 'Reload' }));
    expect(apply).toHaveBeenCalledOnce();
  });
});

describe('announcing messages', () => {
  it('announces messages that arrive, but neither earlier nor own ones', async () => {
    const { store, show } = createWorld();
    store.set(contactsAtom, loaded(veikko));
    store.set(chatsAtom, { [veikko.id]: chat([message(veikko.id, 'Old news')]) });
    show(<MessageAnnouncer />);
    const status = screen.getByRole('status');
    expect(status).toBeEmptyDOMElement();
    act(() => store.set(chatsAtom, { [veikko.id]: chat([message(aino.id, 'Mine')]) }));
    expect(status).toBeEmptyDOMElement();
    act(() => store.set(chatsAtom, { [veikko.id]: chat([message(veikko.id, 'Sauna at seven?')]) }));
    await waitFor(() => expect(status).toHaveTextContent('New message from veikko: Sauna at seven?'));
  });

  it('says nothing any more of one that is deleted', async () => {
    const { store, show } = createWorld();
    store.set(contactsAtom, loaded(veikko));
    store.set(chatsAtom, { [veikko.id]: chat([message(veikko.id, 'Old news')]) });
    show(<MessageAnnouncer />);
    const status = screen.getByRole('status');
    const secret = message(veikko.id, 'The key is under the mat.');
    act(() => store.set(chatsAtom, { [veikko.id]: chat([secret]) }));
    await waitFor(() => expect(status).toHaveTextContent('under the mat'));
    act(() => store.set(chatsAtom, { [veikko.id]: chat([{ ...secret, content: { kind: 'deleted' } }]) }));
    expect(status).toBeEmptyDOMElement();
  });
});

describe('a signed release', () => {
  const changes = { version: '1.4.0', app: true, room: false, policies: false };

  it('is agreed to by one press where the key room stays', async () => {
    const onAnswer = vi.fn<() => void>();
    const user = createWorld().show(
      <ReleaseBar release={{ ...changes, policies: true }} onAnswer={onAnswer} />,
    );
    expect(screen.getByRole('status')).toHaveTextContent(
      'Version 1.4.0 is here. App: changed. Key room: unchanged. Its rules for what pages may do: changed.',
    );
    await user.click(screen.getByRole('button', { name: 'Use it' }));
    expect(onAnswer).toHaveBeenCalledOnce();
  });

  it('has a changed key room asked about by itself', async () => {
    const onAnswer = vi.fn<() => void>();
    const user = createWorld().show(<ReleaseBar release={{ ...changes, room: true }} onAnswer={onAnswer} />);
    await user.click(screen.getByRole('button', { name: 'Use it' }));
    expect(onAnswer).not.toHaveBeenCalled();
    expect(screen.getByRole('status')).toHaveTextContent('The key room changes as well.');
    await user.click(screen.getByRole('button', { name: 'Change the key room' }));
    expect(onAnswer).toHaveBeenCalledOnce();
  });

  it.each([
    ['rollback', 'This server has gone back to an older version'],
    ['unsigned', 'This server no longer shows who has signed its versions.'],
    ['signature', 'This server has a version whose signatures don’t hold.'],
    ['different', 'What this server serves is not a signed version.'],
    ['first', 'What this server serves is not the version that was signed.'],
  ] as const)(
    'that is none is told of in a sentence, with the reason for operators: %s',
    async (problem, text) => {
      const onAnswer = vi.fn<() => void>();
      const reasons = [
        'Step 3 was seen here before, and is gone.',
        'https://keys.example.org/keys.html has another policy.',
      ];
      const release = { problem, reasons };
      const user = createWorld().show(<ReleaseBar release={release} onAnswer={onAnswer} />);
      expect(screen.getByRole('status')).toHaveTextContent(text);
      for (const reason of reasons) expect(screen.queryByText(reason)).toBeNull();
      await user.click(screen.getByRole('button', { name: 'For the operator' }));
      for (const reason of reasons) expect(screen.getByText(reason)).toBeVisible();
      await user.click(screen.getByRole('button', { name: 'OK' }));
      expect(onAnswer).toHaveBeenCalledOnce();
    },
  );
});
