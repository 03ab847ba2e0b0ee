import { describe, expect, it } from 'vitest';
import { accountChangesAtom } from '../../src/store/accountChanges.ts';
import { recoveryKeyAtom } from '../../src/store/recovery.ts';
import { currentUserAtom } from '../../src/store/session.ts';
import { isSignedIn, type Tab, until, untilConnected } from './support/browser.ts';
import { newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

async function annaTwice() {
  const anna = await newBrowser().openTab().signUp('anna');
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(anna, phone);
  return { anna, phone };
}

const changesOn = (tab: Tab) => tab.store.get(accountChangesAtom).map(({ kind }) => kind);

describe('an operation that takes the password', () => {
  it('is told to the other browsers while they are open, and to one that logs in later', async () => {
    const { anna, phone } = await annaTwice();
    await anna.setUpRecoveryKey();
    await until(() => changesOn(phone), ['recovery-key-created']);
    expect(phone.store.get(accountChangesAtom)[0]).toMatchObject({ deviceName: 'A test' });
    expect(changesOn(anna)).toEqual([]);
    const tablet = await newBrowser().openTab().logIn('anna');
    await until(() => changesOn(tablet), ['recovery-key-created']);
    await phone.actions.acknowledgeAccountChange();
    expect(changesOn(phone)).toEqual([]);
    await anna.setUpRecoveryKey();
    await until(() => changesOn(phone), ['recovery-key']);
  });

  it('changes nothing when the person calls it off, or types another password', async () => {
    const { anna, phone } = await annaTwice();
    const { typist } = anna;
    typist.type = () => null;
    await expect(anna.actions.setUpRecoveryKey()).rejects.toMatchObject({ code: 'cancelled' });
    const attempts: number[] = [];
    typist.type = (_question, attempt) => {
      attempts.push(attempt);
      return attempt < 3 ? { password: 'a guess', newPassword: null } : null;
    };
    await expect(anna.actions.setUpRecoveryKey()).rejects.toMatchObject({ code: 'cancelled' });
    expect(attempts).toEqual([1, 2, 3]);
    const key = typist.asked.at(-1)?.recoveryKey ?? '';
    const stranger = newBrowser().openTab();
    await expect(
      stranger.actions.recover({ identifier: 'anna', recoveryKey: key, password: 'another' }),
    ).rejects.toMatchObject({ code: 'wrong-credentials' });
    expect(isSignedIn(stranger)).toBe(false);
    expect(changesOn(phone)).toEqual([]);
  });

  it('takes another log-in where the account is from before there were proofs', async () => {
    const { anna, phone } = await annaTwice();
    const { db } = relay.relay.database;
    await db.updateTable('users').set({ proof_key: null }).where('id', '=', anna.userId).execute();
    await anna.crypto.writeLocal('proof-key', null);
    await expect(anna.setUpRecoveryKey()).rejects.toMatchObject({ code: 'proof-required' });
    expect(changesOn(phone)).toEqual([]);
    await anna.actions.logOut();
    await anna.logIn('anna');
    await anna.setUpRecoveryKey();
    expect(anna.store.get(recoveryKeyAtom)).toBe('present');
    await until(() => changesOn(phone), ['recovery-key-created']);
    await anna.actions.updateProfile({ username: 'anna', email: 'anna@sinetti.example' });
    expect(anna.store.get(currentUserAtom)?.email).toBe('anna@sinetti.example');
  });
});
