import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { AppError } from '#src/lib/appError.ts';
import { ApiError, NetworkError } from '#src/net/errors.ts';
import { type Chats, createChats } from '#src/services/conversations/chats.ts';
import {
  createMessaging,
  createSendFailureReport,
  type Messaging,
} from '#src/services/conversations/messaging.ts';
import type { Outbox } from '#src/services/conversations/outbox.ts';
import { sendErrorText } from '#src/services/conversations/sendErrors.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { galleryAtom } from '#src/store/gallery.ts';
import { connectionBannerAtom } from '#src/store/session.ts';
import { toastsAtom } from '#src/store/toasts.ts';
import { settled } from '../net/support/fakeClock.ts';
import {
  conversationId,
  me,
  peer,
  received,
  refused,
  state,
  type TestDeps,
  testDeps,
} from './support/deps.ts';
import { SimulatedDevice } from './support/simulation.ts';

let device: SimulatedDevice;
let worker: Partial<CryptoApi>;
let deps: TestDeps;
let chats: Chats;
let signedIn: boolean;
let messaging: Messaging;
const flush = vi.fn<Outbox['flush']>();
const send = vi.fn<Outbox['send']>();
const leaveForLogin = vi.fn<(afterMs: number) => void>();

beforeEach(() => {
  flush.mockReset().mockResolvedValue(undefined);
  send.mockReset().mockResolvedValue(undefined);
  leaveForLogin.mockReset();
  signedIn = true;
  device = new SimulatedDevice();
  worker = device.api();
  deps = testDeps({ crypto: worker });
  chats = createChats(deps, me);
  chats.setLoaded(peer, true);
  messaging = createMessaging({
    deps,
    ownUserId: me,
    chats,
    outbox: { send, flush, flushAll: () => Promise.resolve(), flushLeft: () => Promise.resolve() },
    commitSubmitter: { submit: async () => ({ kind: 'taken' }) },
    hasToken: () => signedIn,
    onDeletingFiles: async () => {},
    leaveForLogin,
    background: createBackground(deps.log),
  });
});

const shown = () => chats.get(peer).messages.map(({ content, status }) => [status, content]);
const newest = () => chats.get(peer).state?.lastMessage?.content;

describe('writing a message', () => {
  it.each(['', ' ', '\n\t  '])('does nothing with the blank text %j', async (text) => {
    await messaging.send(peer, text);
    expect(device.waiting.size).toBe(0);
    expect(send).not.toHaveBeenCalled();
  });

  it('shows the trimmed text at once, and resolves before it is sent', async () => {
    send.mockReturnValue(new Promise(() => undefined));
    await messaging.send(peer, '  hello \n');
    expect(shown()).toEqual([['sending', { kind: 'text', text: 'hello' }]]);
    expect(newest()).toEqual({ kind: 'text', text: 'hello' });
    expect(send).toHaveBeenCalledExactlyOnceWith(conversationId, null);
  });

  it('hands on what the worker has ready', async () => {
    Object.assign(device, { membership: 'member', epoch: 1 });
    await messaging.send(peer, 'hello');
    const [messageId] = device.waiting.keys();
    const ready = { kind: 'message', conversationId, messageId, epoch: 1, content: 'hello', start: 'start' };
    expect(send).toHaveBeenCalledExactlyOnceWith(conversationId, ready);
  });

  it('without a session shows the banner, leaves for the login page and queues nothing', async () => {
    signedIn = false;
    await expect(messaging.send(peer, 'hello')).rejects.toMatchObject({
      name: 'AppError',
      message: 'Please log in to send messages',
    });
    expect(deps.store.get(connectionBannerAtom)).toBe(true);
    expect(leaveForLogin).toHaveBeenCalledExactlyOnceWith(1_500);
    expect(device.waiting.size).toBe(0);
  });

  it.each([
    ['usage', 'Failed to send message: The message is too long.'],
    ['storage', "Failed to send message: This browser's storage is full or cannot be written."],
    ['internal', 'Failed to send message. Please try again.'],
  ])('rejects when the worker refuses with %s', async (code, sentence) => {
    worker.queueMessage = () => Promise.reject(Object.assign(new Error(), { code }));
    await expect(messaging.send(peer, 'hello')).rejects.toMatchObject({ code, message: sentence });
    expect(send).not.toHaveBeenCalled();
  });

  it('logs a failure nobody waits for by its code only', async () => {
    send.mockRejectedValue(Object.assign(new Error('hello is in here'), { code: 'storage' }));
    await messaging.send(peer, 'hello');
    await settled();
    expect(deps.lines).toEqual(['warn background-failure code="storage"']);
  });
});

it('retries under the same id and shows that it does', async () => {
  await messaging.send(peer, 'hello');
  const [messageId = ''] = device.waiting.keys();
  await worker.messageFailed?.(messageId, 'network');
  await messaging.retry(peer, messageId);
  expect(flush).toHaveBeenLastCalledWith(conversationId, messageId);
  expect(shown()).toEqual([['sending', { kind: 'text', text: 'hello' }]]);
});

it('retries nothing that is not there', async () => {
  await messaging.retry(peer, 'unknown');
  expect(flush).not.toHaveBeenCalled();
});

it('discards a message from the worker and the screen', async () => {
  await messaging.send(peer, 'hello');
  const [messageId = ''] = device.waiting.keys();
  await messaging.discard(messageId);
  expect(device.waiting.size).toBe(0);
  expect(shown()).toEqual([]);
  expect(newest()).toBeUndefined();
});

it('takes a discarded change off the message that it was of', async () => {
  const [messageId, change] = ['message', 'change'];
  const waiting = { messageId: change, kind: 'edit', status: 'failed' } as const;
  chats.addMessages(conversationId, [received(3, { messageId, isEdited: true, unsentChanges: [waiting] })]);
  worker.discardMessage = () => Promise.resolve(state());
  worker.messages = (_id, page) =>
    Promise.resolve(page.before === 4 && page.limit === 1 ? [received(3, { messageId })] : []);
  await messaging.discard(change);
  expect(chats.get(peer).messages).toEqual([received(3, { messageId })]);
});

describe('a message that is gone here', () => {
  const kept = received(2);
  const inGallery = () =>
    deps.store.get(galleryAtom)?.shelves.media?.messages.map(({ messageId }) => messageId);

  beforeEach(() => {
    const shelf = { messages: [received(3), kept], before: null };
    deps.store.set(galleryAtom, { key: peer, shelves: { media: shelf } });
    worker.deleteMessageHere = () => Promise.resolve(state());
    worker.discardMessage = () => Promise.resolve(state());
  });

  it.each([
    ['deleted', () => messaging.deleteHere(peer, 'm3')],
    ['discarded', () => messaging.discard('m3')],
  ])('since it was %s is in no gallery either', async (_how, goes) => {
    await goes();
    expect(inGallery()).toEqual([kept.messageId]);
  });
});

it('discards nothing that is not there', async () => {
  await messaging.send(peer, 'hello');
  await messaging.discard('unknown');
  expect(shown()).toHaveLength(1);
});

describe('the sentence for a failed send', () => {
  it.each([
    [refused('session-expired'), 'You need to be logged in to send messages. Please log in again.'],
    [refused('not-found', 'x'), 'Cannot send message. The message service is currently unavailable.'],
    [refused('not-a-contact', 'x'), 'You do not have permission to send messages to this user.'],
    [refused('internal', 'x'), 'Server error occurred while sending message. Please try again later.'],
    [
      new ApiError({ status: 429, code: 'rate-limited', detail: 'Too many messages.' }),
      'Failed to send message: Too many messages.',
    ],
    [
      new ApiError({ status: 429, code: 'rate-limited', detail: null }),
      'Failed to send message. Please try again.',
    ],
    [new NetworkError('timeout'), 'Network error. Please check your internet connection and try again.'],
    [new AppError('no-device', 'Nobody is there.'), 'Failed to send message: Nobody is there.'],
    [
      Object.assign(new Error(), { code: 'identity-changed' }),
      "Failed to send message: This person's security keys have changed.",
    ],
    [new Error('whatever it says'), 'Failed to send message. Please try again.'],
  ])('for %s is %j', (error, sentence) => {
    expect(sendErrorText(error)).toBe(sentence);
  });
});

describe('the report of a failed send', () => {
  const report = (error: unknown) => createSendFailureReport({ deps, leaveForLogin })(error);

  it('is a toast of 5 seconds', () => {
    report(new NetworkError('unreachable'));
    expect(deps.store.get(toastsAtom)).toMatchObject([
      {
        kind: 'error',
        durationMs: 5_000,
        text: 'Network error. Please check your internet connection and try again.',
      },
    ]);
    expect(leaveForLogin).not.toHaveBeenCalled();
  });

  it('leads to the login page after 2 seconds when the session is over', () => {
    report(refused('session-expired'));
    expect(leaveForLogin).toHaveBeenCalledExactlyOnceWith(2_000);
  });
});
