import { describe, expect, it, vi } from 'vitest';
import type { CryptoApi, MessageView } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import type { LogEntry } from '#src/net/contract.ts';
import { NetworkError } from '#src/net/errors.ts';
import { lastSent } from '#src/services/conversations/lastSent.ts';
import { conversationId, me, partial, peer, refused, state } from './support/deps.ts';

const group = 'group:00000000-0000-4000-8000-00000000000a';
const notes = `self:${me}`;

/** A message at a minute of an hour. */
function message(minute: number, rest: Partial<MessageView> = {}): MessageView {
  return {
    conversationId,
    messageId: `message-${minute}`,
    seq: minute,
    senderId: me,
    senderDeviceId: 'browser',
    timestamp: `2026-06-01T12:${String(minute).padStart(2, '0')}:00Z`,
    status: 'sent',
    content: { kind: 'text', text: `text ${minute}` },
    ...rest,
  };
}

const entry = (rest: Partial<LogEntry> = {}): LogEntry => ({
  id: 'message-7',
  conversationId,
  seq: 7,
  epoch: 3,
  kind: 'application',
  sender_id: me,
  sender_device_id: 'browser',
  receiver_id: peer,
  group_id: null,
  // The field in the open, then the bytes 1, 2 and 3.
  content: 'b3BlbgECAw',
  timestamp: '2026-06-01T12:07:00Z',
  created_at: '2026-06-01T12:07:00Z',
  delivered: false,
  is_read: false,
  ...rest,
});

interface World {
  readonly histories?: Readonly<Record<string, readonly MessageView[]>>;
  readonly crypto?: Partial<CryptoApi>;
  readonly listUserMessages?: Api['listUserMessages'];
  readonly listGroupMessages?: Api['listGroupMessages'];
}

/** A browser with these histories, and a relay. */
function ask({ crypto = {}, histories = { [conversationId]: [message(7)] }, ...calls }: World = {}) {
  const ids = Object.keys(histories);
  const api: Partial<Api> = {
    listUserMessages: calls.listUserMessages ?? (async () => [entry()]),
    listGroupMessages: calls.listGroupMessages ?? (async () => []),
  };
  return lastSent(
    {
      api: partial<Api>(api),
      crypto: partial<CryptoApi>({
        conversations: async () =>
          ids.map((id) =>
            state({
              conversationId: id,
              lastMessage: id === notes ? null : (histories[id]?.at(-1) ?? null),
            }),
          ),
        messages: async (id, { before = Number.POSITIVE_INFINITY, limit }) =>
          (histories[id] ?? []).filter(({ seq }) => (seq ?? 0) < before).slice(-limit),
        sentEvidence: async () => ({
          match: 'same',
          fields: [{ name: 'version', length: 4, value: 'mls10' }],
        }),
        ...crypto,
      }),
    },
    me,
  );
}

describe('the last text that this browser has sent', () => {
  it('is the newest one of all conversations, notes and groups among them', async () => {
    const groupMessage = message(8, { conversationId: group });
    const note = message(9, { conversationId: notes });
    const histories = { [conversationId]: [message(7)], [group]: [groupMessage], [notes]: [note] };
    expect((await ask({ histories }))?.text).toEqual({
      text: 'text 9',
      key: me,
      conversationId: notes,
      deviceId: 'browser',
      seq: 9,
      isEdited: false,
    });
    expect((await ask({ histories: { ...histories, [notes]: [] } }))?.text.text).toBe('text 8');
    expect((await ask({ histories: { ...histories, [notes]: [], [group]: [] } }))?.text.text).toBe('text 7');
  });

  it('is no file, nothing deleted, nothing of others or of another browser, and nothing that waits', async () => {
    const history = [
      message(1),
      message(2, { content: { kind: 'deleted' } }),
      message(3, { content: { kind: 'files', files: [], text: 'a caption' } }),
      message(4, { status: 'received', senderId: peer }),
      message(5, { status: 'received', senderDeviceId: 'phone' }),
      message(6, { status: 'sending', seq: null }),
    ];
    expect((await ask({ histories: { [conversationId]: history } }))?.text.text).toBe('text 1');
    expect(await ask({ histories: { [conversationId]: history.slice(1) } })).toBeNull();
    expect(await ask({ histories: {} })).toBeNull();
  });

  it('is found behind what others have written since, and no further than the one that was found first', async () => {
    const others = Array.from({ length: 250 }, (_, at) =>
      message(2, { seq: 10 + at, status: 'received', senderId: peer }),
    );
    const asked: string[] = [];
    const histories = { [conversationId]: [message(1), ...others], [group]: [message(0)] };
    const found = await ask({
      histories,
      crypto: {
        messages: async (id, page) => {
          asked.push(id);
          return (histories[id as keyof typeof histories] ?? [])
            .filter(({ seq }) => (seq ?? 0) < (page.before ?? Number.POSITIVE_INFINITY))
            .slice(-page.limit);
        },
      },
    });
    expect(found?.text.text).toBe('text 1');
    expect(asked).toEqual([conversationId, conversationId, conversationId]);
  });

  it('is shown as it was sent first, where it has been edited since', async () => {
    const edited = message(7, { isEdited: true, content: { kind: 'text', text: 'now' } });
    const versions = ['**first**', 'second', 'now'].map((text) => ({ text, timestamp: edited.timestamp }));
    const found = await ask({
      histories: { [conversationId]: [edited] },
      crypto: {
        messageVersions: async () => [{ ...versions[0]!, isMarkdown: true }, ...versions.slice(1)],
      },
    });
    expect(found?.text).toMatchObject({ text: '**first**', isMarkdown: true, isEdited: true });
  });
});

describe('what the relay has of it', () => {
  it('is asked for at its very place, of the person or the group', async () => {
    const listUserMessages = vi.fn<Api['listUserMessages']>().mockResolvedValue([entry()]);
    await ask({ listUserMessages });
    expect(listUserMessages).toHaveBeenCalledExactlyOnceWith(peer, { after: 6, limit: 1 });
    const listGroupMessages = vi.fn<Api['listGroupMessages']>().mockResolvedValue([]);
    await ask({ listGroupMessages, histories: { [group]: [message(7, { conversationId: group })] } });
    expect(listGroupMessages).toHaveBeenCalledExactlyOnceWith(group.replace('group:', ''), {
      after: 6,
      limit: 1,
    });
  });

  it('comes as bytes, with what the worker says of them, and with what the relay says beside', async () => {
    const sentEvidence = vi
      .fn<CryptoApi['sentEvidence']>()
      .mockResolvedValue({ match: 'same', fields: null });
    const found = await ask({ crypto: { sentEvidence } });
    expect(found?.copy).toEqual({
      kind: 'bytes',
      bytes: new TextEncoder().encode('open\u0001\u0002\u0003'),
      fields: [],
      match: 'same',
      hasText: false,
      entry: {
        senderId: me,
        senderDeviceId: 'browser',
        epoch: 3,
        seq: 7,
        timestamp: '2026-06-01T12:07:00Z',
      },
    });
    // Nothing of an answer but the entry goes to the worker.
    expect(sentEvidence.mock.calls[0]?.[1]).not.toHaveProperty('receiver_id');
  });

  it.each<[found: boolean | null, text: string, sealed: string]>([
    [false, 'See you at eight, by the harbour.', 'xxxxxxxxxxxx'],
    [true, 'See you at eight, by the harbour.', 'xx at eight xx'],
    [false, 'See you at eight, by the harbour.', 'xx eight xx'],
    [true, 'åland', 'xxålandxx'],
    [null, 'ok!', 'xxok!xx'],
    // It stands in the open there.
    [false, 'open', 'xxxxxxxx'],
  ])('has a piece of the text: %s, for %s in %s', async (hasText, text, sealed) => {
    const content = Buffer.from(`open${sealed}`).toString('base64url');
    const found = await ask({
      histories: { [conversationId]: [message(7, { content: { kind: 'text', text } })] },
      listUserMessages: async () => [entry({ content })],
    });
    expect(found?.copy).toMatchObject({ kind: 'bytes', hasText });
  });

  it('has a piece of the text in the open, too, where it is another entry than was sent', async () => {
    const found = await ask({
      histories: { [conversationId]: [message(7, { content: { kind: 'text', text: 'open' } })] },
      crypto: {
        sentEvidence: async () => ({
          match: 'different',
          fields: [{ name: 'authenticatedData', length: 4, value: 'open' }],
        }),
      },
    });
    expect(found?.copy).toMatchObject({ hasText: true });
  });

  it('is a digest once it has deleted the rest', async () => {
    const emptied = entry({ content: '', digest: 'd'.repeat(43), expired: true });
    const found = await ask({
      listUserMessages: async () => [emptied],
      crypto: { sentEvidence: async () => ({ match: 'same', fields: null }) },
    });
    expect(found?.copy).toMatchObject({ kind: 'digest', digest: 'd'.repeat(43), match: 'same' });
  });

  it.each<[string, Api['listUserMessages']]>([
    ['missing', async () => []],
    ['missing', async () => [entry({ seq: 8 })]],
    ['refused', () => Promise.reject(refused('not-found'))],
    ['unreachable', () => Promise.reject(new NetworkError('unreachable'))],
    ['unreachable', () => Promise.reject(refused('internal'))],
  ])('is %s', async (kind, listUserMessages) => {
    expect((await ask({ listUserMessages }))?.copy).toEqual({ kind });
  });

  it('fails with a sentence where the answer says nothing of it', async () => {
    const listUserMessages = () => Promise.reject(refused('session-expired'));
    await expect(ask({ listUserMessages })).rejects.toMatchObject({
      name: 'AppError',
      code: 'session-expired',
    });
  });
});
