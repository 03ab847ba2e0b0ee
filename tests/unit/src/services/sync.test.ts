import { describe, expect, it } from 'vitest';
import { NetworkError } from '#src/net/errors.ts';
import { catchUpAtom } from '#src/store/connection.ts';
import { settled } from '../net/support/fakeClock.ts';
import { conversationId, me, peer, refused } from './support/deps.ts';
import { deps, device, memberOf, onProcessed, relay, sync, texts, withSync } from './support/sync.ts';

withSync();

describe('catching up with a log', () => {
  it('fetches nothing for a conversation that nobody has started', async () => {
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'outside' });
    expect(relay.calls).toEqual(['listUserMessages before the end']);
  });

  it('takes the log of somebody who is gone for a conversation that does not exist', async () => {
    relay.before = () => {
      throw refused('not-found');
    };
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'outside' });
  });

  it('joins by the Welcome, takes it out of the mailbox, and reads what came after it', async () => {
    relay.begin(peer, 3);
    relay.welcome('own-device', 1);
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'joined', lastSeq: 4 });
    expect(texts()).toEqual(['text 1', 'text 2', 'text 3']);
    expect(relay.calls).toEqual([
      'listUserMessages before the end',
      'listWelcomes',
      'deleteWelcome',
      'listUserMessages after 1',
      'listUserMessages after 4',
    ]);
  });

  it('joins by external commit without a Welcome, and reads the log from there', async () => {
    relay.begin(peer, 300);
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'joined', joinedSeq: 302 });
    expect(relay.calls).toEqual([
      'listUserMessages before the end',
      'listWelcomes',
      'getGroupInfo',
      'submitCommit',
      'listUserMessages after 301',
      'listUserMessages after 302',
    ]);
  });

  it('stays out of a conversation that is held back from this person, and fails nothing by it', async () => {
    relay.begin(peer, 3);
    relay.before = (call) => {
      if (call === 'getGroupInfo') throw refused('not-found');
    };
    await expect(sync.syncAll()).resolves.toBeUndefined();
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'outside' });
    relay.before = () => undefined;
    await sync.syncAll();
    expect(await deps.crypto.conversation(conversationId)).toMatchObject({ status: 'joined' });
  });

  it('joins by external commit when the Welcome is for keys this device does not have', async () => {
    relay.begin(peer, 1);
    relay.welcomes.set('own-device', [
      { id: 'w1', conversationId, epoch: 1, seq: 1, welcome: 'welcome to a stranger' },
    ]);
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'joined', joinedSeq: 3 });
    expect(relay.welcomes.get('own-device')).toEqual([]);
  });

  it('keeps the Welcome when only this browser failed', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    Object.assign(deps.crypto, {
      joinByWelcome: () => Promise.reject(Object.assign(new Error(), { code: 'storage' })),
    });
    await expect(sync.catchUp(conversationId)).rejects.toMatchObject({ code: 'storage' });
    expect(relay.welcomes.get('own-device')).toHaveLength(1);
  });

  it('reads a long log page by page', async () => {
    relay.begin(peer, 450);
    relay.welcome('own-device', 1);
    await sync.catchUp(conversationId);
    expect(device.lastSeq).toBe(451);
    expect(relay.calls.filter((call) => call.startsWith('listUserMessages after'))).toEqual([
      'listUserMessages after 1',
      'listUserMessages after 201',
      'listUserMessages after 401',
      'listUserMessages after 451',
    ]);
    expect(onProcessed).toHaveBeenCalledTimes(3);
  });

  it('that has nothing more to read says what the conversation is by then', async () => {
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    await sync.catchUp(conversationId);
    relay.before = (call) => {
      if (call.startsWith('listUserMessages after')) device.readSeq = 2;
    };
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ readSeq: 2 });
  });

  it('goes on after a page that large entries have made short', async () => {
    relay.begin(peer, 5);
    relay.welcome('own-device', 1);
    relay.mostPerPage = 2;
    await sync.catchUp(conversationId);
    expect(texts()).toHaveLength(5);
  });

  it('tries again with a pause when another commit takes its epoch', async () => {
    relay.begin(peer, 1);
    let races = 2;
    relay.before = (call) => {
      if (call === 'submitCommit' && races > 0) {
        races -= 1;
        relay.append('commit', `faster ${races}`, peer);
      }
    };
    const caughtUp = sync.catchUp(conversationId);
    await settled();
    expect(device.membership).toBe('none');
    await deps.clock.advance(1_000);
    await expect(caughtUp).resolves.toMatchObject({ status: 'joined', joinedSeq: 5 });
  });

  it('rests after losing every race, and does not try again at once', async () => {
    relay.begin(peer, 1);
    relay.before = (call) => {
      if (call === 'submitCommit') relay.append('commit', 'always faster', peer);
    };
    const caughtUp = sync.catchUp(conversationId);
    await settled();
    await deps.clock.advance(30_000);
    await expect(caughtUp).resolves.toMatchObject({ status: 'outside' });
    expect(deps.lines).toEqual(['warn sync-stalled code="outside"']);
    relay.calls.length = 0;
    await sync.catchUp(conversationId);
    expect(relay.calls).toEqual([]);
    relay.before = () => undefined;
    await deps.clock.advance(60_000);
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'joined' });
  });

  it('rejoins when its state has forked', async () => {
    await memberOf(1);
    device.refuses.add('forged');
    relay.append('commit', 'forged', peer);
    relay.append('application', 'after the fork', peer);
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'joined', lastSeq: 5 });
    expect(relay.log.at(-1)?.content).toBe('own external 1');
  });

  it('discards its own start when the other one came first, and joins that by its Welcome', async () => {
    device.pending = { kind: 'start', epoch: 0, commit: 'own start' };
    relay.begin(peer, 1);
    relay.welcome('own-device', 1);
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'joined', joinedSeq: 1 });
    expect(texts()).toEqual(['text 1']);
  });

  it('finds its own start in the log when the answer to it was lost', async () => {
    device.pending = { kind: 'start', epoch: 0, commit: 'own start' };
    relay.append('commit', 'own start', me);
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'joined', joinedSeq: 0 });
    expect(relay.calls).toEqual(['listUserMessages after 0', 'listUserMessages after 1']);
  });

  it('takes a list that breaks the contract as empty', async () => {
    await memberOf(1);
    relay.append('application', 'out of reach', peer);
    relay.before = (call) => {
      if (call.startsWith('listUserMessages')) throw refused('invalid-response');
    };
    await expect(sync.catchUp(conversationId)).resolves.toMatchObject({ status: 'joined', lastSeq: 2 });
  });

  it('ignores entries of another conversation in the answer', async () => {
    await memberOf(0);
    relay.append('application', 'mine', peer);
    relay.log.push({
      ...relay.append('application', 'foreign', peer),
      conversationId: `direct:${peer}:${peer}`,
    });
    relay.log.splice(2, 1);
    await sync.catchUp(conversationId);
    expect(texts()).toEqual(['mine']);
  });
});

describe('one call for one need', () => {
  it('asks for nothing where the position that is known to be there has been reached', async () => {
    await memberOf(2);
    await sync.catchUp(conversationId, 3);
    expect(relay.calls).toEqual([]);
  });

  it('reads as far as is known to be there, and does not ask whether there is more', async () => {
    await memberOf(0);
    for (let number = 1; number <= 250; number += 1) relay.append('application', `text ${number}`, peer);
    await sync.catchUp(conversationId, 251);
    expect(device.lastSeq).toBe(251);
    expect(relay.calls).toEqual(['listUserMessages after 1', 'listUserMessages after 201']);
  });

  it('reads once for all that ask before it begins', async () => {
    await memberOf(0);
    relay.append('application', 'a', peer);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    relay.before = () => held;
    const older = sync.olderEntries(conversationId, 2, 10);
    await settled();
    const asked = [1, 2, 3].map(() => sync.catchUp(conversationId));
    release();
    await Promise.all([older, ...asked]);
    expect(relay.calls.filter((call) => call.startsWith('listUserMessages after'))).toEqual([
      'listUserMessages after 1',
      'listUserMessages after 2',
    ]);
  });

  it('reads again for what arrives while an answer that cannot have it is on its way', async () => {
    await memberOf(0);
    relay.append('application', 'a', peer);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The relay has looked, and its answer takes its time.
    const { listUserMessages } = deps.api;
    deps.api.listUserMessages = async (...args) => {
      const answer = await listUserMessages(...args);
      await held;
      return answer;
    };
    const caughtUp = sync.catchUp(conversationId, 2);
    await settled();
    relay.append('application', 'b', peer);
    const told = sync.onAvailable({ type: 'available', conversationId, seq: 3 }, false);
    const toldTwice = sync.onAvailable({ type: 'available', conversationId, seq: 3 }, false);
    release();
    await Promise.all([caughtUp, told, toldTwice]);
    expect(texts()).toEqual(['a', 'b']);
    expect(relay.calls).toEqual(['listUserMessages after 1', 'listUserMessages after 2']);
  });
});

describe('syncing all conversations', () => {
  it('brings in what is behind, with what was read on another device', async () => {
    relay.begin(peer, 2);
    relay.welcome('own-device', 1);
    Object.assign(relay, { readSeq: 2 });
    const readWhenShown: number[] = [];
    onProcessed.mockImplementation(() => readWhenShown.push(device.readSeq));
    await sync.syncAll();
    expect(texts()).toEqual(['text 1', 'text 2']);
    expect(readWhenShown).toEqual([2]);
    expect(device).toMatchObject({ readSeq: 2, readHere: 0 });
    expect(relay.welcomes.get('own-device')).toEqual([]);
  });

  it('tells how far it is where many messages are missing, and nothing where few are', async () => {
    await memberOf(0);
    const progress: string[] = [];
    deps.store.sub(catchUpAtom, () => {
      const shown = deps.store.get(catchUpAtom);
      progress.push(shown === null ? 'none' : `${shown.done} of ${shown.of}`);
    });
    for (let i = 0; i < 199; i += 1) relay.append('application', `few ${i}`, peer);
    await sync.syncAll();
    expect(progress).toEqual([]);
    for (let i = 0; i < 450; i += 1) relay.append('application', `many ${i}`, peer);
    await sync.syncAll();
    expect(progress).toEqual(['0 of 450', '200 of 450', '400 of 450', '450 of 450', 'none']);
  });

  it('stops telling when the connection breaks', async () => {
    await memberOf(0);
    for (let i = 0; i < 450; i += 1) relay.append('application', `many ${i}`, peer);
    relay.before = (call) => {
      if (call === 'listUserMessages after 201') throw new NetworkError('unreachable');
    };
    await expect(sync.syncAll()).rejects.toBeInstanceOf(NetworkError);
    expect(deps.store.get(catchUpAtom)).toBeNull();
  });

  it('asks for no entries where nothing is missing', async () => {
    await memberOf(2);
    await sync.syncAll();
    expect(relay.calls).toEqual(['listWelcomes', 'listConversations']);
  });

  it('removes Welcomes that came too late to be needed', async () => {
    await memberOf(2);
    relay.welcome('own-device', 3);
    await sync.syncAll();
    expect(relay.welcomes.get('own-device')).toEqual([]);
  });

  it('empties a mailbox that is answered in parts', async () => {
    relay.begin(peer, 1);
    const welcomes = [1, 2, 3].map((number) => ({
      id: `w${number}`,
      conversationId,
      epoch: 1,
      seq: 1,
      welcome: 'welcome to own-device',
    }));
    relay.welcomes.set('own-device', welcomes);
    relay.mostWelcomes = 1;
    await sync.syncAll();
    expect(relay.welcomes.get('own-device')).toEqual([]);
    expect(device.membership).toBe('member');
  });

  it('looks after a start whose answer was lost', async () => {
    device.pending = { kind: 'start', epoch: 0, commit: 'own start' };
    relay.append('commit', 'own start', me);
    relay.readSeq = 0;
    await sync.syncAll();
    expect(device.membership).toBe('member');
  });

  it('rejects without a connection, and works the next time', async () => {
    await memberOf(0);
    relay.append('application', 'a', peer);
    relay.before = () => {
      throw new NetworkError('unreachable');
    };
    await expect(sync.syncAll()).rejects.toMatchObject({ code: 'unreachable' });
    relay.before = () => undefined;
    await sync.syncAll();
    expect(texts()).toEqual(['a']);
  });
});

describe('older entries of a log', () => {
  it('answer the lowest position reached, and null at the beginning', async () => {
    await memberOf(5);
    await expect(sync.olderEntries(conversationId, 4, 2)).resolves.toMatchObject({ lowestSeq: 2 });
    await expect(sync.olderEntries(conversationId, 1, 2)).resolves.toEqual({ messages: [], lowestSeq: null });
  });
});
