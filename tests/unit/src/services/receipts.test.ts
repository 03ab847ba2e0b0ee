import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConversationState, GivenReceipt } from '#src/crypto/client.ts';
import { AppError } from '#src/lib/appError.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createReceipts, type Receipts } from '#src/services/conversations/receipts.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { timings } from '#src/services/core/timings.ts';
import { activeConversationAtom, groupKeyOf } from '#src/store/chats.ts';
import { conversationId, me, peer, refused, state, type TestDeps, testDeps } from './support/deps.ts';

const groupId = '00000000-0000-4000-8000-0000000000a1';
const ofGroup = `group:${groupId}`;
const receipt = { epoch: 1, position: 3, sealed: 'sealed', signature: 'signature' };
const theirs: GivenReceipt = { userId: peer, deviceId: 'their device', ...receipt };
const people = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ userId: `${at}`, deviceIds: [`device ${at}`] }));

let known: ConversationState;
let isGone: boolean;
let hasRead: boolean;
let deps: TestDeps;
let receipts: Receipts;
const makeReceipt = vi.fn<(id: string, isShown: boolean) => Promise<unknown>>();
const receiptStored = vi.fn<() => Promise<ConversationState>>();
const takeReceipts =
  vi.fn<(id: string, given: readonly GivenReceipt[], isShown: boolean) => Promise<unknown>>();
const putReceipt = vi.fn<(id: string, body: object) => Promise<undefined>>();
const listReceipts = vi.fn<(id: string) => Promise<GivenReceipt[]>>();
const onAvailable = vi.fn<() => Promise<void>>();
const catchUp = vi.fn<(id: string) => Promise<ConversationState>>();
const onTaken = vi.fn<() => void>();

beforeEach(() => {
  known = state({ lastSeq: 3, receiptDue: true });
  isGone = false;
  hasRead = true;
  makeReceipt.mockReset().mockResolvedValue({ receipt, readSeq: 2 });
  receiptStored.mockReset().mockImplementation(async () => known);
  takeReceipts.mockReset().mockImplementation(async () => ({ messages: [], events: [], state: known }));
  putReceipt.mockReset().mockResolvedValue(undefined);
  listReceipts.mockReset().mockResolvedValue([theirs]);
  onAvailable.mockReset().mockResolvedValue(undefined);
  catchUp.mockReset().mockImplementation(async () => known);
  onTaken.mockReset();
  deps = testDeps({
    api: { putReceipt, listReceipts },
    crypto: { makeReceipt, receiptStored, takeReceipts, conversation: async () => known } as object,
  });
  deps.sessionEvents.on('receiptsTaken', onTaken);
  receipts = createReceipts({
    deps,
    ownUserId: me,
    sync: { catchUp, hasRead: () => hasRead, onAvailable },
    hasToken: () => true,
    isGone: async () => isGone,
    isShown: () => false,
    background: createBackground(deps.log),
  });
});

const changed = (one: ConversationState) =>
  deps.sessionEvents.emit('conversationsChanged', { states: [one] });

describe('what this device has received', () => {
  it('is told once for all that comes within a second', async () => {
    for (let seq = 3; seq < 10; seq++) changed({ ...known, lastSeq: seq });
    await deps.clock.advance(timings.receiptDelay - 1);
    expect(makeReceipt).not.toHaveBeenCalled();
    await deps.clock.advance(1);
    expect(makeReceipt).toHaveBeenCalledExactlyOnceWith(conversationId, false);
    expect(putReceipt).toHaveBeenCalledExactlyOnceWith(conversationId, receipt);
    expect(receiptStored).toHaveBeenCalledExactlyOnceWith(conversationId, {
      epoch: 1,
      position: 3,
      readSeq: 2,
    });
  });

  it('is told once the start of this storage is registered, and not by a copy', async () => {
    const start = vi.spyOn(deps.crypto, 'start').mockRejectedValueOnce(new AppError('device-copied', ''));
    changed(known);
    await deps.clock.advance(timings.receiptDelay);
    expect(start).toHaveBeenCalledOnce();
    expect(makeReceipt).not.toHaveBeenCalled();
    changed(known);
    await deps.clock.advance(timings.receiptDelay);
    changed(known);
    await deps.clock.advance(timings.receiptDelay);
    expect(start).toHaveBeenCalledTimes(2);
    expect(putReceipt).toHaveBeenCalledTimes(2);
  });

  it('is told once this session has read the log, and not by a copy, whose other place is found there', async () => {
    hasRead = false;
    catchUp.mockRejectedValueOnce(new AppError('device-copied', ''));
    changed(known);
    await deps.clock.advance(timings.receiptDelay);
    expect(catchUp).toHaveBeenCalledExactlyOnceWith(conversationId);
    expect(makeReceipt).not.toHaveBeenCalled();
    changed(known);
    await deps.clock.advance(timings.receiptDelay);
    expect(catchUp).toHaveBeenCalledTimes(2);
    expect(putReceipt).toHaveBeenCalledOnce();
    hasRead = true;
    changed(known);
    await deps.clock.advance(timings.receiptDelay);
    expect(catchUp).toHaveBeenCalledTimes(2);
    expect(putReceipt).toHaveBeenCalledTimes(2);
  });

  it('is told of a group by who looks at it, and not by all at once', async () => {
    known = { ...known, conversationId: ofGroup };
    changed(known);
    await deps.clock.advance(60_000);
    expect(makeReceipt).not.toHaveBeenCalled();
    deps.store.set(activeConversationAtom, groupKeyOf(groupId));
    changed(known);
    await deps.clock.advance(timings.receiptDelay);
    expect(makeReceipt).not.toHaveBeenCalled();
    await deps.clock.advance(timings.receiptSpread);
    expect(makeReceipt).toHaveBeenCalledOnce();
  });

  it('is not told where there is nothing new', async () => {
    changed({ ...known, receiptDue: false });
    await deps.clock.advance(60_000);
    expect(makeReceipt).not.toHaveBeenCalled();
    makeReceipt.mockResolvedValue(null);
    changed(known);
    await deps.clock.advance(60_000);
    expect(putReceipt).not.toHaveBeenCalled();
  });

  it('is not told of a conversation that goes while it waits, or while the worker makes it', async () => {
    changed(known);
    isGone = true;
    await deps.clock.advance(timings.receiptDelay);
    expect(makeReceipt).not.toHaveBeenCalled();
    isGone = false;
    makeReceipt.mockImplementation(async () => {
      isGone = true;
      return { receipt, readSeq: 2 };
    });
    changed(known);
    await deps.clock.advance(timings.receiptDelay);
    expect(makeReceipt).toHaveBeenCalledOnce();
    expect(putReceipt).not.toHaveBeenCalled();
  });

  it.each([refused('forbidden'), new NetworkError('unreachable')])(
    'is not noted as told when the relay has not taken it, and told with the next occasion: %s',
    async (failure) => {
      putReceipt.mockRejectedValueOnce(failure);
      changed(known);
      await deps.clock.advance(timings.receiptDelay);
      expect(receiptStored).not.toHaveBeenCalled();
      changed(known);
      await deps.clock.advance(timings.receiptDelay);
      expect(receiptStored).toHaveBeenCalledOnce();
    },
  );
});

describe('receipts of others', () => {
  it('are given to the worker, and what it finds is told', async () => {
    await receipts.onReceipt({ type: 'receipt', conversationId, ...theirs });
    expect(takeReceipts).toHaveBeenCalledExactlyOnceWith(conversationId, [theirs], false);
    expect(onTaken).toHaveBeenCalledExactlyOnceWith({ events: [], state: known });
    expect(onAvailable).not.toHaveBeenCalled();
  });

  it('that are ahead wait until this device is there, which looks what it lacks', async () => {
    const [further, next] = [
      { ...theirs, position: 5 },
      { ...theirs, deviceId: 'another', epoch: 2 },
    ];
    await receipts.onReceipt({ type: 'receipt', conversationId, ...further });
    await receipts.onReceipt({ type: 'receipt', conversationId, ...next });
    expect(takeReceipts).not.toHaveBeenCalled();
    expect(onAvailable).toHaveBeenNthCalledWith(1, { type: 'available', conversationId, seq: 5 }, true);
    known = { ...known, lastSeq: 5 };
    changed(known);
    await deps.clock.advance(0);
    expect(takeReceipts).toHaveBeenCalledExactlyOnceWith(conversationId, [further], false);
    known = { ...known, epoch: 2 };
    changed(known);
    await deps.clock.advance(0);
    expect(takeReceipts).toHaveBeenLastCalledWith(conversationId, [next], false);
  });

  it('of an epoch before, or of a conversation of others, are left alone', async () => {
    await receipts.onReceipt({ type: 'receipt', conversationId, ...theirs, epoch: 0 });
    const others = conversationId.replace(me, '00000000-0000-4000-8000-000000000009');
    await receipts.onReceipt({ type: 'receipt', conversationId: others, ...theirs });
    expect(takeReceipts).not.toHaveBeenCalled();
  });

  it('are read of the open chat, where it has any', async () => {
    await receipts.refreshOpen();
    expect(listReceipts).not.toHaveBeenCalled();
    deps.store.set(activeConversationAtom, peer);
    await receipts.refreshOpen();
    expect(takeReceipts).toHaveBeenCalledExactlyOnceWith(conversationId, [theirs], false);
    known = { ...known, members: people(33) };
    await receipts.refreshOpen();
    known = { ...known, status: 'outside', members: [] };
    await receipts.refreshOpen();
    expect(listReceipts).toHaveBeenCalledOnce();
  });
});
