import { beforeEach, describe, expect, it } from 'vitest';
import type { CryptoApi, MessageView } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { ApiError, NetworkError } from '#src/net/errors.ts';
import { createMessageBackup, type MessageBackup } from '#src/services/backup/messageBackup.ts';
import { type Chats, createChats } from '#src/services/conversations/chats.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { catchUpAtom } from '#src/store/connection.ts';
import { devicesAtom } from '#src/store/devices.ts';
import { keysRenewedAtom } from '#src/store/keys.ts';
import { backupKeptAtom } from '#src/store/messageBackup.ts';
import { settled } from '../net/support/fakeClock.ts';
import {
  conversationId,
  me,
  peer,
  received,
  state,
  type TestDeps,
  testConfirmation,
  testDeps,
} from './support/deps.ts';

interface Copy {
  readonly id: string;
  readonly conversationId: string;
  readonly sealed: string;
}

let calls: string[];
/** The positions behind which the worker was given pages. */
let readAfter: number[];
let kept: (Copy & { position: number })[];
let lastPosition: number;
/** The messages that the worker of this browser knows. */
let worker: {
  kept: boolean;
  isTold: boolean;
  position: number;
  due: Map<string, Copy[]>;
  restores: MessageView[];
  isLate: boolean;
  /** It has the keys that the copies are sealed under. */
  hasKeys: boolean;
};
let fails: (call: string) => Error | null;
let perPage: number;
let deps: TestDeps;
let chats: Chats;
let confirmation: ReturnType<typeof testConfirmation>;
let messageBackup: MessageBackup;

const copy = (id: string, of = conversationId): Copy => ({ id, conversationId: of, sealed: `sealed ${id}` });

beforeEach(() => {
  calls = [];
  readAfter = [];
  kept = [];
  lastPosition = 0;
  perPage = 200;
  fails = () => null;
  worker = {
    hasKeys: true,
    kept: true,
    isTold: true,
    position: 0,
    due: new Map(),
    restores: [],
    isLate: false,
  };
  const call = async (name: string) => {
    calls.push(name);
    const failure = fails(name);
    if (failure !== null) throw failure;
  };
  const api: Partial<Api> = {
    putHistory: async ({ items }) => {
      await call(`put ${items.map(({ id }) => id).join(' ')}`);
      for (const item of items) kept.push({ ...item, position: ++lastPosition });
      return { stored: items.length, lastPosition };
    },
    getHistory: async ({ after }) => {
      await call(`get after ${after}`);
      return kept.filter(({ position }) => position > after).slice(0, perPage);
    },
    deleteHistory: async ({ conversationId: of }) => {
      await call(`delete ${of ?? 'all'}`);
      kept = of === undefined ? [] : kept.filter((item) => item.conversationId !== of);
    },
  };
  const crypto: Partial<CryptoApi> = {
    backupState: async () => ({ kept: worker.kept, position: worker.position }),
    setBackupKept: async (wanted) => {
      if (worker.kept !== wanted) worker.isTold = false;
      worker.kept = wanted;
    },
    backupSetting: async (again = false) =>
      worker.isTold && !again ? null : { kept: worker.kept, copy: copy(worker.kept ? 'on' : 'off') },
    backupSettingStored: async () => {
      worker.isTold = true;
    },
    conversationsToBackUp: async () => (worker.kept ? [...worker.due.keys()] : []),
    nextBackupEntries: async (of) => {
      const due = worker.kept ? worker.due.get(of) : undefined;
      return due === undefined ? null : { copies: due.slice(0, 2), upTo: 7 };
    },
    backupEntriesStored: async ({ conversationId: of, stored }) => {
      const left = worker.due.get(of)?.slice(2) ?? [];
      if (left.length === 0) worker.due.delete(of);
      else worker.due.set(of, left);
      if (stored !== null && worker.position + stored.count === stored.lastPosition) {
        worker.position = stored.lastPosition;
      }
    },
    readBackup: async (page, hasAllKeys = false, after = 0) => {
      readAfter.push(after);
      const isComplete = hasAllKeys || worker.hasKeys;
      if (!isComplete) return { messages: [], kept: worker.kept, isLate: false, isComplete };
      worker.position = page.at(-1)?.position ?? worker.position;
      const messages = worker.restores;
      worker.restores = [];
      return { messages, kept: worker.kept, isLate: worker.isLate, isComplete };
    },
    conversation: async () => state({ unread: 3 }),
  };
  deps = testDeps({ api, crypto });
  chats = createChats(deps, me);
  confirmation = testConfirmation();
  const background = createBackground(deps.log);
  messageBackup = createMessageBackup({ deps, ownUserId: me, chats, confirmation, isBehind, background });
});

const isBehind = async () => deps.store.get(keysRenewedAtom);

describe('syncing the message backup', () => {
  it('reads page by page to the end, and then leaves what has no copy yet', async () => {
    for (const id of ['a', 'b', 'c']) kept.push({ ...copy(id), position: ++lastPosition });
    perPage = 2;
    worker.due.set(conversationId, [copy('x'), copy('y'), copy('z')]);
    await messageBackup.sync();
    expect(calls).toEqual(['get after 0', 'get after 2', 'get after 3', 'put x y', 'put z']);
    expect(readAfter).toEqual([0, 2]);
    expect(worker.due.size).toBe(0);
    calls = [];
    await messageBackup.sync();
    expect(calls).toEqual(['get after 6']);
  });

  it('counts what a new browser reads, and only there', async () => {
    const shown: (number | null)[] = [];
    deps.store.sub(catchUpAtom, () => shown.push(deps.store.get(catchUpAtom)?.done ?? null));
    await messageBackup.sync();
    expect(shown).toEqual([]);
    for (const id of ['a', 'b', 'c']) kept.push({ ...copy(id), position: ++lastPosition });
    perPage = 2;
    await messageBackup.sync();
    expect(shown).toEqual([0, 2, null]);
    kept.push({ ...copy('d'), position: ++lastPosition });
    await messageBackup.sync();
    expect(shown).toHaveLength(3);
  });

  it('looks a second time in a new browser, for what the other ones had left no copy of yet', async () => {
    const other = { id: 'phone', name: 'Phone', createdAt: '', lastSeenAt: '', isThisOne: false };
    deps.store.set(devicesAtom, [{ ...other, id: 'laptop', isThisOne: true }, other]);
    await messageBackup.sync();
    expect(calls).toEqual(['get after 0']);
    kept.push({ ...copy('a'), position: ++lastPosition });
    await deps.clock.advance(10_000);
    await settled();
    expect(calls).toEqual(['get after 0', 'get after 0', 'get after 1']);
    await deps.clock.advance(60_000);
    expect(calls).toHaveLength(3);
  });

  it('looks once in the only browser of a person, and in one that has read copies before', async () => {
    await messageBackup.sync();
    worker.position = 1;
    deps.store.set(devicesAtom, null);
    await messageBackup.sync();
    await deps.clock.advance(60_000);
    await settled();
    expect(calls).toEqual(['get after 0', 'get after 1']);
  });

  it('shows what became readable where it is on screen, and the state of its conversation', async () => {
    chats.setState(state());
    chats.setLoaded(peer, true);
    const unreadable = received(2, { content: { kind: 'undecryptable', reason: 'before-join' } });
    chats.addMessages(conversationId, [unreadable, received(5)]);
    kept.push({ ...copy('m2'), position: ++lastPosition });
    worker.restores = [received(1), received(2)];
    await messageBackup.sync();
    expect(chats.get(peer).messages).toEqual([received(2), received(5)]);
    expect(chats.get(peer).state?.unread).toBe(3);
  });

  it('is done by one tab at a time', async () => {
    const background = createBackground(deps.log);
    const other = createMessageBackup({ deps, ownUserId: me, chats, confirmation, isBehind, background });
    worker.due.set(conversationId, [copy('x')]);
    await Promise.all([messageBackup.sync(), other.sync()]);
    expect(calls.filter((call) => call.startsWith('put'))).toEqual(['put x']);
  });

  it('waits for the keys that another device has renewed, and goes on with them', async () => {
    kept.push({ ...copy('sealed anew'), position: ++lastPosition });
    worker.due.set(conversationId, [copy('x')]);
    worker.hasKeys = false;
    deps.store.set(keysRenewedAtom, true);
    await messageBackup.sync();
    expect(calls).toEqual(['get after 0']);
    worker.hasKeys = true;
    deps.store.set(keysRenewedAtom, false);
    deps.sessionEvents.emit('keysTakenOver', { vaultVersion: 2 });
    await settled();
    expect(calls.slice(1)).toEqual(['get after 0', 'get after 1', 'put x']);
  });

  it('is not held up by a copy that says it waits for keys that nobody has renewed', async () => {
    kept.push({ ...copy('junk'), position: ++lastPosition });
    worker.hasKeys = false;
    await messageBackup.sync();
    expect(calls).toEqual(['get after 0', 'get after 1']);
  });

  it('stops where the relay has no more room, and says so once', async () => {
    worker.due.set(conversationId, [copy('x')]);
    worker.due.set('group:1', [copy('y', 'group:1')]);
    fails = (call) =>
      call.startsWith('put') ? new ApiError({ status: 413, code: 'quota', detail: null }) : null;
    await messageBackup.sync();
    await messageBackup.sync();
    expect(calls.filter((call) => call.startsWith('put'))).toEqual(['put x']);
    expect(deps.lines).toEqual(['warn backup-full code="quota"']);
  });

  it('goes on where it was after a failure', async () => {
    worker.due.set(conversationId, [copy('x'), copy('y'), copy('z')]);
    fails = (call) => (call === 'put z' ? new NetworkError('unreachable') : null);
    await expect(messageBackup.sync()).rejects.toBeInstanceOf(NetworkError);
    fails = () => null;
    await messageBackup.sync();
    expect(kept.map(({ id }) => id)).toEqual(['x', 'y', 'z']);
  });
});

describe('new messages in the message backup', () => {
  it('are copied together with those that come soon after', async () => {
    worker.due.set(conversationId, [copy('x')]);
    deps.sessionEvents.emit('entriesProcessed', { state: state(), messages: [received(1)], events: [] });
    await deps.clock.advance(4_000);
    worker.due.set(conversationId, [copy('x'), copy('y')]);
    deps.sessionEvents.emit('entriesProcessed', { state: state(), messages: [received(1)], events: [] });
    expect(calls).toEqual([]);
    await deps.clock.advance(1_000);
    expect(calls).toEqual(['put x y']);
  });

  it('take along what own devices tell each other that is no message, such as a star', async () => {
    const own = `self:${me}`;
    worker.due.set(own, [copy('x')]);
    deps.sessionEvents.emit('entriesProcessed', { state: state(), messages: [], events: [] });
    await deps.clock.advance(5_000);
    expect(calls).toEqual([]);
    deps.sessionEvents.emit('entriesProcessed', {
      state: state({ conversationId: own }),
      messages: [],
      events: [],
    });
    await deps.clock.advance(5_000);
    expect(calls).toEqual(['put x']);
  });

  it('are nobody’s after the session', async () => {
    worker.due.set(conversationId, [copy('x')]);
    deps.sessionEvents.emit('entriesProcessed', { state: state(), messages: [received(1)], events: [] });
    messageBackup.stop();
    await deps.clock.advance(10_000);
    expect(calls).toEqual([]);
    expect(deps.clock.pending).toBe(0);
  });

  it('lose their copies with the group that the person leaves', async () => {
    deps.sessionEvents.emit('groupGivenUp', { groupId: peer });
    await settled();
    expect(calls).toEqual([`delete group:${peer}`]);
  });
});

describe('the switch of the message backup', () => {
  it('is shown as this browser knows it', async () => {
    messageBackup.start();
    await settled();
    expect(deps.store.get(backupKeptAtom)).toBe(true);
  });

  it('off deletes the copies, and tells the other devices', async () => {
    kept.push({ ...copy('x'), position: ++lastPosition });
    await messageBackup.setKept(false);
    expect(deps.store.get(backupKeptAtom)).toBe(false);
    await settled();
    // Copies that another device has left since the first time go, too.
    expect(calls.slice(0, 3)).toEqual(['delete all', 'delete all', 'put off']);
    expect(confirmation.asked).toEqual([{ kind: 'delete-message-backup', target: '', id: null }]);
    expect(kept.map(({ id }) => id)).toEqual(['off']);
    expect(worker.isTold).toBe(true);
  });

  it('on deletes nothing, and copies again', async () => {
    Object.assign(worker, { kept: false });
    worker.due.set(conversationId, [copy('x')]);
    await messageBackup.setKept(true);
    await settled();
    expect(calls).toEqual(['put on', 'get after 0', 'get after 1', 'put x']);
  });

  it('stays on when the copies could not be deleted', async () => {
    fails = () => new NetworkError('unreachable');
    await expect(messageBackup.setKept(false)).rejects.toBeInstanceOf(NetworkError);
    expect(worker.kept).toBe(true);
  });

  it('that could not be told is told with the next occasion', async () => {
    fails = () => (calls.length > 1 ? new NetworkError('unreachable') : null);
    await messageBackup.setKept(false);
    await settled();
    expect(worker.isTold).toBe(false);
    fails = () => null;
    await messageBackup.sync();
    expect(worker.isTold).toBe(true);
  });

  it('deletes what a device left that had not heard of it', async () => {
    Object.assign(worker, { kept: false, isLate: true });
    kept.push({ ...copy('late'), position: ++lastPosition });
    await messageBackup.sync();
    expect(kept.map(({ id }) => id)).toEqual(['off']);
    expect(worker.kept).toBe(false);
  });
});
