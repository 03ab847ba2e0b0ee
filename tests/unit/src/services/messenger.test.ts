import { describe, expect, it, vi } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { activeConversationAtom, chatsAtom, emptyChat } from '#src/store/chats.ts';
import { presenceAtom, realtimeStatusAtom } from '#src/store/connection.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { unloadedList } from '#src/store/loadedList.ts';
import { notificationsAtom } from '#src/store/notifications.ts';
import { settled } from '../net/support/fakeClock.ts';
import { conversationId, me, peer, state } from './support/deps.ts';
import {
  bert,
  chat,
  deps,
  device,
  listContacts,
  listGroups,
  listNotifications,
  messenger,
  onDisconnected,
  openSession,
  presence,
  presenceListeners,
  realtime,
  realtimeListeners,
  receive,
  relay,
  setConnected,
  setSignedIn,
  topUpKeyPackages,
  withMessenger,
  worker,
} from './support/messenger.ts';

withMessenger();

describe('the messenger of a session', () => {
  it('opens both connections and loads the contacts', () => {
    expect(realtime.open).toHaveBeenCalled();
    expect(presence.open).toHaveBeenCalledOnce();
    expect(deps.store.get(contactsAtom).items).toEqual([bert]);
  });

  it('shows the state of the connection, and syncs when it comes up', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    realtimeListeners.onStatus('connected');
    await settled();
    expect(deps.store.get(realtimeStatusAtom)).toBe('connected');
    expect(chat()?.state?.lastSeq).toBe(2);
  });

  it('tells when the connection is lost, not when it does not come up', () => {
    realtimeListeners.onStatus('reconnecting');
    expect(onDisconnected).not.toHaveBeenCalled();
    realtimeListeners.onStatus('connected');
    realtimeListeners.onStatus('reconnecting');
    realtimeListeners.onStatus('connecting');
    expect(onDisconnected).toHaveBeenCalledOnce();
  });

  it('sends what was left waiting, although syncing failed', async () => {
    relay.begin(peer, 0);
    Object.assign(device, { membership: 'member', epoch: 1, lastSeq: 1, joinedSeq: 1 });
    await worker.queueMessage?.({
      conversationId,
      messageId: 'left',
      text: 'left over',
      sentAt: '2026-03-01T12:00:00.000Z',
    });
    setConnected(false);
    relay.before = (call) => {
      if (call === 'listConversations') throw new Error('broken');
    };
    realtimeListeners.onStatus('connected');
    await settled();
    expect(relay.log.at(-1)?.content).toBe('left over');
  });
});

describe('an event of the relay', () => {
  it('with an entry is processed and told to the page', async () => {
    relay.begin(peer, 0);
    relay.welcome('own-device', 1);
    await receive({ type: 'welcome', conversationId });
    const heard = vi.fn<(event: Event) => void>();
    deps.events.addEventListener('ws-message', heard);
    const entry = relay.append('application', 'live', peer);
    await receive({
      type: 'message',
      conversationId,
      messageId: entry.id,
      senderId: peer,
      senderDeviceId: entry.sender_device_id,
      seq: entry.seq,
      epoch: entry.epoch,
      content: entry.content,
      timestamp: entry.timestamp,
    });
    expect(chat()?.state?.lastSeq).toBe(2);
    expect(heard.mock.calls[0]?.[0]).toMatchObject({ detail: { type: 'message', userId: peer } });
  });

  it('with a Welcome joins, empties the mailbox and tops up KeyPackages', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    await receive({ type: 'welcome', conversationId });
    expect(chat()?.state?.status).toBe('joined');
    expect(relay.welcomes.get('own-device')).toEqual([]);
    expect(topUpKeyPackages).toHaveBeenCalledOnce();
  });

  it('of an entry too large to be sent along has it fetched', async () => {
    relay.begin(peer, 2);
    relay.welcome('own-device', 1);
    await receive({ type: 'available', conversationId, seq: 3 });
    expect(chat()?.state?.lastSeq).toBe(3);
  });

  it('that could not be taken in has the log asked again, although the connection is up', async () => {
    relay.begin(peer, 2);
    relay.welcome('own-device', 1);
    setConnected(true);
    relay.before = () => {
      throw new Error('no room');
    };
    await receive({ type: 'available', conversationId, seq: 3 });
    expect(chat()?.state?.lastSeq ?? 0).toBe(0);
    relay.before = () => undefined;
    await deps.clock.advance(10_000);
    await settled();
    expect(chat()?.state?.lastSeq).toBe(3);
  });

  it('of changed groups has them read again', async () => {
    await receive({ type: 'groups' });
    expect(listGroups).toHaveBeenCalledTimes(2);
  });

  it('of changed contacts has those lists read again', async () => {
    await receive({ type: 'contacts', lists: ['contacts'] });
    expect(listContacts).toHaveBeenCalledTimes(2);
  });

  it('about a group that was forgotten brings nothing of it back', async () => {
    const groupId = '00000000-0000-4000-8000-0000000000a1';
    const ofGroup = state({ conversationId: `group:${groupId}`, status: 'outside', lastSeq: 0 });
    Object.assign(deps.crypto, {
      conversation: async () => ofGroup,
      setReadPosition: async () => ofGroup,
      forgetConversation: async () => undefined,
    });
    const late = {
      type: 'delivered',
      conversationId: ofGroup.conversationId,
      messageId: peer,
      seq: 3,
    } as const;
    const shown = () => Object.keys(deps.store.get(chatsAtom));
    await messenger.groups.remove(groupId);
    await receive({ ...late, readerId: me });
    expect(shown()).not.toContain(`group-${groupId}`);
  });

  it('about a conversation of others is ignored', async () => {
    const foreign = `direct:${peer}:00000000-0000-4000-8000-000000000009`;
    await receive({ type: 'welcome', conversationId: foreign });
    await receive({ type: 'available', conversationId: foreign, seq: 1 });
    expect(relay.calls).toEqual([]);
  });

  it('of presence reaches the screen from the presence socket and from MQTT', async () => {
    presenceListeners.onOnlineUsers([peer]);
    const known = () => deps.store.get(presenceAtom);
    expect(known()).toEqual({ online: { [peer]: true }, listed: true });
    realtimeListeners.onPresence({ userId: peer, online: false });
    expect(known()).toEqual({ online: { [peer]: false }, listed: true });
    presenceListeners.onLost();
    await deps.clock.advance(5_000);
    expect(known()).toEqual({ online: {}, listed: false });
  });
});

describe('every 10 seconds', () => {
  it('the contacts are read again', async () => {
    await deps.clock.advance(10_000);
    expect(listContacts).toHaveBeenCalledTimes(2);
  });

  it('the log is asked only while MQTT is down', async () => {
    await deps.clock.advance(10_000);
    expect(relay.calls).toEqual([]);
    setConnected(false);
    await deps.clock.advance(10_000);
    expect(relay.calls).toContain('listConversations');
  });

  it('nothing is asked without a token', async () => {
    setSignedIn(false);
    setConnected(false);
    await deps.clock.advance(30_000);
    expect(relay.calls).toEqual([]);
    expect(listContacts).toHaveBeenCalledTimes(1);
  });
});

describe('notifications', () => {
  it('are asked for every ten seconds', async () => {
    expect(listNotifications).toHaveBeenCalledOnce();
    await deps.clock.advance(10_000);
    expect(listNotifications).toHaveBeenCalledTimes(2);
    setSignedIn(false);
    await deps.clock.advance(10_000);
    expect(listNotifications).toHaveBeenCalledTimes(2);
  });
});

describe('after the session', () => {
  it('nothing of it is left on screen or on the clock', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    await messenger.openConversation.open(peer);
    await settled();
    messenger.stop();
    expect(deps.store.get(chatsAtom)).toEqual({});
    expect(deps.store.get(activeConversationAtom)).toBeNull();
    expect(deps.store.get(contactsAtom)).toEqual(unloadedList);
    expect(deps.store.get(groupsAtom)).toEqual(unloadedList);
    expect(deps.store.get(notificationsAtom)).toEqual(unloadedList);
    expect(realtime.close).toHaveBeenCalledOnce();
    expect(presence.close).toHaveBeenCalledOnce();
    expect(deps.clock.pending).toBe(0);
  });

  it("opening a chat no longer looks at the other person's devices", async () => {
    const userDevices = vi.fn<Api['userDevices']>().mockResolvedValue([]);
    Object.assign(deps.api, { userDevices });
    messenger.stop();
    await openSession(true);
    messenger.stop();
    deps.store.set(activeConversationAtom, peer);
    await settled();
    expect(userDevices).not.toHaveBeenCalled();
  });

  it('a late answer does not reach the screen of the next one', async () => {
    let answer: () => void = () => undefined;
    listContacts.mockReturnValue(
      new Promise((resolve) => {
        answer = () => resolve([bert, { ...bert, id: me }]);
      }),
    );
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    realtimeListeners.onEvent({ type: 'contacts', lists: ['contacts'] });
    realtimeListeners.onEvent({ type: 'welcome', conversationId });
    messenger.stop();
    answer();
    await settled();
    expect(deps.store.get(contactsAtom).items).toEqual([]);
    expect(deps.store.get(chatsAtom)).toEqual({});
    expect(deps.lines).toEqual([]);
  });
});

describe('a direct conversation whose log is in doubt', () => {
  it('keeps messages waiting until they are sent anyway', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    realtimeListeners.onStatus('connected');
    await settled();
    setConnected(false);
    const real = { ...deps.crypto };
    const calm = await real.conversation(conversationId);
    const doubted = { ...calm, isDoubted: true };
    deps.store.set(chatsAtom, (chats) => ({ ...chats, [peer]: { ...emptyChat, state: doubted } }));
    deps.crypto.queueMessage = async (input) => {
      const queued = await real.queueMessage(input);
      return { ...queued, state: { ...queued.state, isDoubted: true } };
    };
    await messenger.messaging.send(peer, 'Understood.');
    await settled();
    expect(relay.log.filter(({ kind, sender_id: id }) => kind === 'application' && id === me)).toEqual([]);
    deps.crypto.sendAnyway = async () => calm;
    await messenger.messaging.settleDoubt(peer, 'sendAnyway');
    await settled();
    expect(relay.log.filter(({ kind, sender_id: id }) => kind === 'application' && id === me)).toHaveLength(
      1,
    );
  });
});
