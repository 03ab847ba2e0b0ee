import { describe, expect, it } from 'vitest';
import { groupKeyOf } from '../../src/store/chats.ts';
import { devicesAtom, newDevicesAtom } from '../../src/store/devices.ts';
import { recoveryKeyAtom } from '../../src/store/recovery.ts';
import { authErrorAtom } from '../../src/store/session.ts';
import { trustAtom } from '../../src/store/trust.ts';
import { befriend, isSignedIn, type Tab, until, untilConnected } from './support/browser.ts';
import { annaAnd, untilLines, untilMembers } from './support/people.ts';
import { newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

const passwordChanged = 'Your password was changed on another device. Log in with the new one.';

/** Anna and Bert in their chat, and another browser of Anna's. */
async function annaTwiceAndBert() {
  const [anna, bert] = await annaAnd(() => newBrowser(), ['bert'] as const);
  await anna.actions.openChat(bert.userId);
  await bert.actions.openChat(anna.userId);
  await anna.actions.sendMessage(bert.userId, 'from the first browser');
  await until(() => bert.lines(anna.userId), ['received: from the first browser']);
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(phone);
  await phone.actions.openChat(bert.userId);
  await until(() => phone.chat(bert.userId).state?.status, 'joined');
  return { anna, bert, phone };
}

async function deviceIdOf(tab: Tab): Promise<string> {
  return (await tab.crypto.openDevice()).deviceId;
}

async function holds(tab: Tab, conversationId: string, deviceId: string): Promise<boolean> {
  const { members } = await tab.crypto.conversation(conversationId);
  return members.some(({ deviceIds }) => deviceIds.includes(deviceId));
}

describe('the recovery key', () => {
  it('opens the account on a fresh browser, for a new password', async () => {
    const { anna, bert } = await annaTwiceAndBert();
    await until(() => anna.store.get(recoveryKeyAtom), 'none');
    anna.typist.type = () => null;
    await expect(anna.setUpRecoveryKey()).rejects.toMatchObject({ code: 'cancelled' });
    const notTurnedOn = anna.typist.asked[0]?.recoveryKey ?? '';
    expect(notTurnedOn).toMatch(/^(?:\w{4}-){13}\w{4}$/);

    const stranger = newBrowser().openTab();
    const recover = (identifier: string, key: string) =>
      stranger.actions.recover({ identifier, recoveryKey: key, password: 'a new one' });
    await expect(recover('anna', notTurnedOn)).rejects.toMatchObject({ code: 'wrong-credentials' });
    anna.typist.knows("anna's password");
    const recoveryKey = await anna.setUpRecoveryKey();
    expect(anna.store.get(recoveryKeyAtom)).toBe('present');

    await expect(recover('bert', recoveryKey)).rejects.toMatchObject({ code: 'wrong-credentials' });
    await expect(recover('anna', recoveryKey.slice(5))).rejects.toMatchObject({ code: 'bad-recovery-key' });
    expect(isSignedIn(stranger)).toBe(false);

    await recover('anna@example.org', recoveryKey.toLowerCase().replaceAll('-', ' '));
    expect(isSignedIn(stranger)).toBe(true);
    await untilConnected(stranger);
    // The same person for Bert: nothing is to be accepted.
    await stranger.actions.openChat(bert.userId);
    await until(() => stranger.chat(bert.userId).state?.status, 'joined');
    await stranger.actions.sendMessage(bert.userId, 'recovered');
    await until(() => bert.lines(stranger.userId).at(-1), 'received: recovered');
    expect(bert.store.get(trustAtom).get(stranger.userId)).toMatchObject({ keyOffered: false });

    // Everybody else who was signed in has to know the new password.
    await until(() => anna.store.get(authErrorAtom), passwordChanged);
    await expect(newBrowser().openTab().logIn('anna')).rejects.toMatchObject({ code: 'wrong-credentials' });
    await newBrowser().openTab().logIn('anna', 'a new one');
  });

  it('stops working when another takes its place', async () => {
    const anna = await newBrowser().openTab().signUp('anna');
    const first = await anna.setUpRecoveryKey();
    const second = await anna.setUpRecoveryKey();
    const recover = (recoveryKey: string) =>
      newBrowser().openTab().actions.recover({ identifier: 'anna', recoveryKey, password: 'a new one' });
    await expect(recover(first)).rejects.toMatchObject({ code: 'wrong-credentials' });
    await recover(second);
  });
});

describe('a new password', () => {
  it('replaces the old one, and signs the other browsers out', async () => {
    const { anna, bert, phone } = await annaTwiceAndBert();
    await expect(anna.changePassword('a guess', 'the second one')).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(isSignedIn(phone)).toBe(true);
    await anna.changePassword("anna's password", 'the second one');
    await until(() => phone.store.get(authErrorAtom), passwordChanged);
    expect(isSignedIn(phone)).toBe(false);

    // This browser goes on.
    await anna.actions.sendMessage(bert.userId, 'still here');
    await until(() => bert.lines(anna.userId).at(-1), 'received: still here');
    await expect(phone.logIn('anna')).rejects.toMatchObject({ code: 'wrong-credentials' });
    await phone.logIn('anna', 'the second one');
    await phone.actions.openChat(bert.userId);
    await until(() => phone.lines(bert.userId).at(-1), 'received: still here');
  });

  it('is told of to a browser that was closed meanwhile', async () => {
    const anna = await newBrowser().openTab().signUp('anna');
    const phonesBrowser = newBrowser();
    (await phonesBrowser.openTab().logIn('anna')).kill();
    await anna.changePassword("anna's password", 'second');
    const phone = phonesBrowser.openTab();
    await phone.resume();
    expect(phone.store.get(authErrorAtom)).toBe(passwordChanged);
    await phone.logIn('anna', 'second');
    expect(isSignedIn(phone)).toBe(true);
  });

  it('keeps the recovery key working', async () => {
    const anna = await newBrowser().openTab().signUp('anna');
    const recoveryKey = await anna.setUpRecoveryKey();
    await anna.changePassword("anna's password", 'second');
    const tab = newBrowser().openTab();
    await tab.actions.recover({ identifier: 'anna', recoveryKey, password: 'third' });
    expect(isSignedIn(tab)).toBe(true);
  });
});

describe('the devices of a person', () => {
  it('are told of a new one, until the person has looked', async () => {
    const { anna, bert, phone } = await annaTwiceAndBert();
    const phoneId = await deviceIdOf(phone);
    await until(() => anna.store.get(newDevicesAtom).map(({ id }) => id), [phoneId]);
    expect(phone.store.get(newDevicesAtom)).toEqual([]);
    expect(bert.store.get(newDevicesAtom)).toEqual([]);
    expect(anna.store.get(devicesAtom)?.map(({ isThisOne }) => isThisOne)).toEqual([true, false]);
    await anna.actions.acknowledgeDevices();
    await anna.actions.loadDevices();
    expect(anna.store.get(newDevicesAtom)).toEqual([]);
    await phone.actions.renameDevice('  Phone ');
    await anna.actions.loadDevices();
    expect(anna.store.get(devicesAtom)?.find(({ id }) => id === phoneId)?.name).toBe('Phone');
    await phone.actions.logOut();
    await phone.logIn('anna');
    await phone.actions.loadDevices();
    expect(phone.store.get(devicesAtom)?.find(({ isThisOne }) => isThisOne)?.name).toBe('Phone');
  });

  it('that are revoked are signed out, locked, told why, and read nothing any more', async () => {
    const { anna, bert, phone } = await annaTwiceAndBert();
    const conversationId = anna.chat(bert.userId).state?.conversationId ?? '';
    const phoneId = await deviceIdOf(phone);
    await until(() => anna.store.get(newDevicesAtom).length, 1);
    await anna.actions.revokeDevice(phoneId);
    expect(anna.store.get(devicesAtom)?.map(({ id }) => id)).not.toContain(phoneId);

    await until(() => phone.store.get(authErrorAtom)?.includes('removed from your account'), true);
    expect(isSignedIn(phone)).toBe(false);
    await expect(phone.crypto.conversations()).rejects.toMatchObject({ code: 'locked' });
    // Anna's own browser takes it out of the conversation without waiting for a message.
    await until(() => bert.chat(anna.userId).state?.members.flatMap(({ deviceIds }) => deviceIds).length, 2);
    expect(await holds(bert, conversationId, phoneId)).toBe(false);
    await bert.actions.sendMessage(anna.userId, 'for the browser that is left');
    await until(() => anna.lines(bert.userId).at(-1), 'received: for the browser that is left');

    // With the password it may come back, as another device that begins anew.
    await phone.logIn('anna');
    expect(await deviceIdOf(phone)).not.toBe(phoneId);
    expect(phone.toastTexts).toContain(
      'This browser had been removed from your account. It begins again as a new device.',
    );
    await phone.actions.openChat(bert.userId);
    await until(() => phone.chat(bert.userId).state?.status, 'joined');
    await phone.actions.sendMessage(bert.userId, 'back again');
    await until(() => bert.lines(anna.userId).at(-1), 'received: back again');
    expect(phone.lines(bert.userId)).not.toContain('received: for the browser that is left');
  });

  it.each(['offline', 'closed'] as const)(
    'that are revoked while they are %s are told why when they are back',
    async (how) => {
      const anna = await newBrowser().openTab().signUp('anna');
      let isCut = false;
      const phonesBrowser = newBrowser({
        fetch: (...request) => (isCut ? Promise.reject(new TypeError('offline')) : fetch(...request)),
      });
      let phone = await phonesBrowser.openTab().logIn('anna');
      await untilConnected(anna, phone);
      const phoneId = await deviceIdOf(phone);
      if (how === 'closed') phone.kill();
      isCut = true;
      phone.cutMqtt();
      phone.setOnline(false);
      await anna.actions.revokeDevice(phoneId);
      if (how === 'closed') phone = phonesBrowser.openTab();
      const sentences = new Set<string | null>();
      phone.store.sub(authErrorAtom, () => sentences.add(phone.store.get(authErrorAtom)));
      isCut = false;
      phone.restoreMqtt();
      if (how === 'closed') await phone.resume();
      else phone.setOnline(true);
      await until(() => phone.store.get(authErrorAtom)?.includes('removed from your account'), true);
      expect(sentences.size).toBe(1);
      await phone.logIn('anna');
      expect(isSignedIn(phone)).toBe(true);
    },
  );

  it('that are revoked are removed from a group by whoever speaks first, even who was away', async () => {
    const [anna, bert, carl] = await annaAnd(() => newBrowser(), ['bert', 'carl'] as const);
    const phone = await newBrowser().openTab().logIn('bert');
    await untilConnected(phone);
    const id = await anna.actions.createGroup('Sailing club');
    await anna.actions.addGroupMembers(id, [bert.userId, carl.userId]);
    await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl, phone);
    const conversationId = anna.chat(groupKeyOf(id)).state?.conversationId ?? '';
    const phoneId = await deviceIdOf(phone);
    expect(await holds(carl, conversationId, phoneId)).toBe(true);
    for (const tab of [anna, bert, carl]) await tab.actions.openGroup(id);

    // Carl's browser is closed meanwhile, and Bert's can't do it itself: it goes away at once.
    carl.cutMqtt();
    await until(() => carl.isConnected, false);
    await bert.actions.revokeDevice(phoneId);
    bert.kill();
    await until(() => isSignedIn(phone), false);
    carl.restoreMqtt();
    await untilConnected(carl);
    await carl.actions.sendMessage(groupKeyOf(id), 'among ourselves');
    await untilLines(anna, id, ['received: among ourselves']);
    await until(() => anna.chat(groupKeyOf(id)).state?.members.flatMap((one) => one.deviceIds).length, 3);
    for (const tab of [anna, carl]) expect(await holds(tab, conversationId, phoneId)).toBe(false);
  });

  it('go for good when their browser is erased', async () => {
    const { anna, bert, phone } = await annaTwiceAndBert();
    const conversationId = anna.chat(bert.userId).state?.conversationId ?? '';
    const phoneId = await deviceIdOf(phone);
    await phone.actions.logOut({ erase: true });
    expect(phone.store.get(authErrorAtom)).toBeNull();
    await anna.actions.loadDevices();
    expect(anna.store.get(devicesAtom)?.map(({ isThisOne }) => isThisOne)).toEqual([true]);
    await bert.actions.sendMessage(anna.userId, 'only one of you');
    await until(() => anna.lines(bert.userId).at(-1), 'received: only one of you');
    expect(await holds(bert, conversationId, phoneId)).toBe(false);
  });
});

describe('safety numbers', () => {
  it('are the same on both sides before a word is said, and a mark travels to other browsers', async () => {
    const anna = await newBrowser().openTab().signUp('anna');
    const bert = await newBrowser().openTab().signUp('bert');
    await untilConnected(anna, bert);
    await befriend(anna, bert);
    const numbers = await anna.actions.loadSafetyNumbers(bert.userId);
    expect(numbers).toEqual({ current: expect.stringMatching(/^\d{60}$/), offered: null });
    expect(await bert.actions.loadSafetyNumbers(anna.userId)).toEqual(numbers);
    const verifiedAt = (tab: Tab) => tab.store.get(trustAtom).get(bert.userId)?.verifiedAt ?? null;
    expect(verifiedAt(anna)).toBeNull();
    await anna.actions.setVerified(bert.userId, numbers.current, true);
    expect(verifiedAt(anna)).not.toBeNull();

    const phone = await newBrowser().openTab().logIn('anna');
    await until(() => verifiedAt(phone) !== null, true);
    await phone.actions.setVerified(bert.userId, numbers.current, false);
    expect(verifiedAt(phone)).toBeNull();
    await anna.actions.logOut();
    await anna.logIn('anna');
    await until(() => verifiedAt(anna), null);
  });
});

describe('an account key that changed', () => {
  it('keeps messages waiting until it is accepted; then the new one reads them', async () => {
    const [anna, bert] = await annaAnd(() => newBrowser(), ['bert'] as const);
    await anna.actions.openChat(bert.userId);
    await anna.actions.sendMessage(bert.userId, 'to the Bert I know');
    await bert.actions.openChat(anna.userId);
    await until(() => bert.lines(anna.userId), ['received: to the Bert I know']);
    const bertId = bert.userId;
    await bert.actions.logOut();

    // The relay loses Bert's vault, or says so: what he makes in its place is another identity.
    await relay.relay.database.db.deleteFrom('vaults').where('user_id', '=', bertId).execute();
    const again = await newBrowser().openTab().logIn('bert');
    await untilConnected(again);
    await anna.actions.openChat(null);
    await anna.actions.openChat(bertId);
    const trust = () => anna.store.get(trustAtom).get(bertId);
    await until(() => trust()?.keyOffered, true);
    await anna.actions.sendMessage(bertId, 'is this you?');
    await anna.actions.sendMessage(bertId, 'hello?');
    const waiting = ['sent: to the Bert I know', 'sending: is this you?', 'sending: hello?'];
    await until(() => anna.lines(bertId), waiting);

    const { offered } = await anna.actions.loadSafetyNumbers(bertId);
    expect((await again.actions.loadSafetyNumbers(anna.userId)).current).toBe(offered);
    expect(anna.lines(bertId)).toEqual(waiting);
    await anna.actions.acceptIdentity(bertId, offered ?? '');
    expect(trust()).toMatchObject({ keyOffered: false, verifiedAt: null });
    expect(trust()?.changedAt).toHaveLength(1);
    await until(() => anna.lines(bertId).slice(1), ['sent: is this you?', 'sent: hello?']);
    await again.actions.openChat(anna.userId);
    await until(() => again.lines(anna.userId).slice(-2), ['received: is this you?', 'received: hello?']);
    await again.actions.sendMessage(anna.userId, 'it is, on a new start');
    await until(() => anna.lines(bertId).at(-1), 'received: it is, on a new start');
  });
});
