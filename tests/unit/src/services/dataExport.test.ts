import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MessageView } from '#src/crypto/client.ts';
import { NetworkError } from '#src/net/errors.ts';
import { type ExportProgress, exportProgressAtom } from '#src/store/account.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { resetSessionAtomsAtom } from '#src/store/sessionAtom.ts';
import { MemoryFile } from '#tests/support/memoryFile.ts';
import { group } from '../support/groups.ts';
import { conversationId, me, peer, received, state } from './support/deps.ts';
import { account, anna, answering, bert, device, exporting, logOf, ownReport } from './support/exported.ts';

const groupId = '99999999-0000-4000-8000-000000000009';
const groupConversation = `group:${groupId}`;

function sent(seq: number, text: string, change: Partial<MessageView> = {}): MessageView {
  return received(seq, { senderId: me, status: 'sent', content: { kind: 'text', text }, ...change });
}

const waiting = (id: string, status: 'sending' | 'failed') =>
  sent(0, `waits ${id}`, { messageId: id, seq: null, status });

describe('the JSON file', () => {
  it('holds the profile, the contacts and every message, flattened, with who and what they are about', async () => {
    const inGroup = { conversationId: groupConversation };
    const logs = new Map([
      [conversationId, [received(2), sent(3, 'Hi.')]],
      [groupConversation, [received(4, inGroup)]],
    ]);
    const facts = {
      name: 'Sailing',
      creatorId: me,
      leavingIds: [],
      withoutDeviceIds: [],
      unvouchedIds: [],
      removalDue: false,
      nameDue: false,
    };
    const states = [
      state({ readSeq: 2 }),
      state({
        ...inGroup,
        group: facts,
        members: [
          { userId: me, deviceIds: ['a'] },
          { userId: peer, deviceIds: ['b'] },
        ],
      }),
    ];
    const { file, run } = exporting({ logs, states });
    expect(await run()).toEqual({ written: 0, missing: 0 });
    expect(file.outcome).toBe('closed');
    const message = {
      conversation_id: conversationId,
      group_id: null,
      group_name: null,
      kind: 'text',
      reason: null,
      failure: null,
    };
    expect(JSON.parse(file.text)).toMatchObject({
      format: 'user-data',
      version: 1,
      profile: { username: 'anna', email: anna.email, id: me, created_at: anna.created_at },
      contacts: [bert],
      groups: [
        {
          id: groupId,
          name: 'Sailing',
          creator_id: me,
          members: [{ id: me }, { id: peer, username: 'bert' }],
        },
      ],
      contact_requests: { received: [], sent: [] },
      notifications: [],
      devices: [device],
      reports: [ownReport],
      account,
      messages: [
        {
          ...message,
          id: 'm2',
          sender_id: peer,
          receiver_id: me,
          from_user: 'bert',
          to_user: 'anna',
          content: 'text 2',
          timestamp: received(2).timestamp,
          status: 'received',
          is_read: true,
        },
        {
          ...message,
          id: 'm3',
          sender_id: me,
          receiver_id: peer,
          from_user: 'anna',
          to_user: 'bert',
          is_read: false,
        },
        {
          id: 'm4',
          conversation_id: groupConversation,
          receiver_id: null,
          to_user: null,
          group_id: groupId,
          group_name: 'Sailing',
        },
      ],
    });
  });

  it('says what was done with a message: starred, passed on, pinned, edited, reacted to, and who is named in it', async () => {
    const text = `[@bert](sinetti:user/${peer}) brings **charts**`;
    const done = sent(2, text, {
      content: { kind: 'text', text, isMarkdown: true },
      isEdited: true,
      isForwarded: true,
      reactions: [
        { emoji: '❤️', userIds: [peer, me] },
        { emoji: '⛵', userIds: [me] },
      ],
    });
    const versions = [
      { timestamp: '2026-03-01T10:00:00.000Z', text: 'Who brings charts?' },
      { timestamp: '2026-03-01T10:01:00.000Z', text, isMarkdown: true as const },
    ];
    const { file, run } = exporting({
      logs: logOf([received(1), done]),
      starred: [done],
      states: [state({ pinned: [done] })],
      versions,
    });
    await run();
    const nothingDone = {
      is_starred: false,
      is_forwarded: false,
      is_pinned: false,
      mentions: [],
      reactions: [],
      versions: [],
    };
    const [bertSelf, self] = [
      { id: peer, name: 'bert' },
      { id: me, name: 'anna' },
    ];
    expect(JSON.parse(file.text).messages).toMatchObject([
      { id: 'm1', ...nothingDone },
      {
        id: 'm2',
        content: text,
        content_type: 'text/markdown',
        is_starred: true,
        is_forwarded: true,
        is_pinned: true,
        mentions: [bertSelf],
        reactions: [
          { emoji: '❤️', users: [bertSelf, self] },
          { emoji: '⛵', users: [self] },
        ],
        versions: [
          {
            timestamp: '2026-03-01T10:00:00.000Z',
            text: 'Who brings charts?',
            content_type: 'text/plain',
          },
          { timestamp: '2026-03-01T10:01:00.000Z', text, content_type: 'text/markdown' },
        ],
      },
    ]);
  });

  it('says why there is no text, and what became of what was not sent', async () => {
    const logs = logOf([
      received(1, { content: { kind: 'undecryptable', reason: 'damaged' } }),
      received(2, { content: { kind: 'unknown' } }),
    ]);
    const outbox = [
      waiting('later', 'sending'),
      { ...waiting('never', 'failed'), failure: 'not-a-contact' as const },
    ];
    const { file, run } = exporting({ logs, outbox });
    await run();
    expect(JSON.parse(file.text).messages).toMatchObject([
      { kind: 'undecryptable', reason: 'damaged', content: null },
      { kind: 'unknown', reason: null, content: null },
      { id: 'later', status: 'sending', content: 'waits later' },
      { id: 'never', status: 'failed', failure: 'not-a-contact' },
    ]);
  });

  it('has a message once that reaches the log while it is being written', async () => {
    const outbox = [waiting('m2', 'sending')];
    const { file, run } = exporting({ logs: logOf([received(1), sent(2, 'waits m2')]), outbox });
    await run();
    expect(JSON.parse(file.text).messages).toMatchObject([{ id: 'm1' }, { id: 'm2', status: 'sent' }]);
  });

  it('knows groups without messages, by the list', async () => {
    const { deps, file, run } = exporting({});
    const listed = group({ id: groupId });
    deps.store.set(groupsAtom, { items: [listed], loading: false, loaded: true, error: null });
    await run();
    expect(JSON.parse(file.text)).toMatchObject({
      groups: [{ id: groupId, name: 'Sailing', created_at: listed.createdAt }],
      messages: [],
    });
  });

  it('is made without the relay too, and says what it could not be asked', async () => {
    const silent = async () => Promise.reject(new NetworkError('unreachable'));
    const api = Object.fromEntries(Object.keys(answering).map((name) => [name, silent]));
    const { file, run } = exporting({ api, logs: logOf([received(1)]) });
    expect(await run()).toEqual({ written: 0, missing: 0 });
    expect(JSON.parse(file.text)).toMatchObject({
      contacts: [bert],
      devices: null,
      reports: null,
      account: null,
      contact_requests: { received: null, sent: null },
      messages: [{ id: 'm1' }],
    });
  });

  it('is JSON whatever people write', async () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom(
          '\u0000',
          '\ud800',
          '\udfff',
          '"',
          '\\',
          '\u2028',
          '\u202e',
          '</script>',
          '\u001b',
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { minLength: 1, maxLength: 8 }), async (texts) => {
        const messages = texts.map((text, at) => received(at + 1, { content: { kind: 'text', text } }));
        const { file, run } = exporting({ logs: logOf(messages) });
        await run();
        // As on disk: bytes of UTF-8.
        const bytes = new TextEncoder().encode(file.text);
        const written = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
        expect(written.messages.map(({ content }: { content: string }) => content)).toEqual(texts);
      }),
      { seed: 7, numRuns: 60 },
    );
  });
});

describe('a history of 50,000 messages', () => {
  const count = 50_000;

  /** Reads from each format which message it is. */
  const idOf = { json: /"id":"(m\d+)"/g, html: /text (\d+):/g };

  it.each(['json', 'html'] as const)(
    'is written as %s page by page: nothing grows with it',
    async (format) => {
      const text = 'It rained all night and the road to the harbour is under water. '.repeat(3);
      const textOf = (at: number) => `text ${at}: ${text}`;
      const log = Array.from({ length: count }, (_, at) =>
        received(at + 1, { content: { kind: 'text', text: textOf(at) } }),
      );
      const pages: number[] = [];
      let progress: ExportProgress | null = null;
      const { deps, file, run } = exporting({
        // By position, as the worker's index finds it.
        logs: new Map([[conversationId, Object.assign([], { length: count })]]),
      });
      deps.crypto.messages = async (_id, { after = 0, limit }) => {
        pages.push(limit);
        return log.slice(after, after + limit);
      };
      let longest = 0;
      let written = 0;
      const ids = new Set<string>();
      file.onWrite = () => {
        // Each piece is looked at and dropped, as a disk does.
        const piece = file.pieces.pop() ?? '';
        longest = Math.max(longest, piece.length);
        written += piece.length;
        for (const [, id] of piece.matchAll(idOf[format])) ids.add(id ?? '');
      };
      deps.store.sub(exportProgressAtom, () => {
        progress = deps.store.get(exportProgressAtom) ?? progress;
      });
      expect(await run(format)).toEqual({ written: 0, missing: 0 });
      expect(progress).toEqual({ format, unit: 'messages', done: count, total: count });
      expect(Math.max(...pages)).toBeLessThanOrEqual(200);
      expect(written).toBeGreaterThan(10_000_000);
      expect(longest).toBeLessThan(300 * 1024);
      // The last piece is still there.
      for (const [, id] of file.text.matchAll(idOf[format])) ids.add(id ?? '');
      expect(ids.size).toBe(count);
    },
  );

  it('waits for a slow disk instead of piling up', async () => {
    let readAhead = 0;
    let mostReadAhead = 0;
    const text = 'x'.repeat(10_000);
    const log = Array.from({ length: 2_000 }, (_, at) =>
      received(at + 1, { content: { kind: 'text', text } }),
    );
    const { file, run } = exporting({
      logs: logOf(log),
      onPage: () => {
        readAhead += 1;
        mostReadAhead = Math.max(mostReadAhead, readAhead);
      },
    });
    file.onWrite = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      readAhead = 0;
    };
    await run();
    expect(mostReadAhead).toBeLessThanOrEqual(2);
  });
});

describe('an export that does not come to its end', () => {
  const log = Array.from({ length: 1_000 }, (_, at) => received(at + 1));

  it('leaves neither a file nor progress when it is cancelled', async () => {
    const { dataExport, deps, file, run } = exporting({
      logs: logOf(log),
      onPage: ({ after }) => {
        if (after === 400) dataExport.cancel();
      },
    });
    expect(await run()).toBeNull();
    expect(file.outcome).toBe('aborted');
    expect(deps.store.get(exportProgressAtom)).toBeNull();
  });

  it('is cancelled at once, also while the relay lets one wait', async () => {
    const { dataExport, file, run } = exporting({
      api: { ...answering, listDevices: () => new Promise(() => undefined) },
    });
    const outcome = run();
    dataExport.cancel();
    expect(await outcome).toBeNull();
    expect(file.outcome).toBe('aborted');
  });

  it('says so when the file can not be written', async () => {
    const { deps, file, run } = exporting({ logs: logOf(log) });
    file.onWrite = () => {
      throw new DOMException('The disk is full.', 'QuotaExceededError');
    };
    await expect(run()).rejects.toThrow('Your data export could not be generated. Please try again.');
    expect(file.outcome).toBe('aborted');
    expect(deps.store.get(exportProgressAtom)).toBeNull();
  });

  it('can be begun again', async () => {
    const { dataExport, deps, file } = exporting({
      logs: logOf(log),
      onPage: ({ after }) => {
        if (after === 400 && file.outcome === 'open') dataExport.cancel();
      },
    });
    expect(await dataExport.run('json', file, false)).toBeNull();
    const again = new MemoryFile();
    expect(await dataExport.run('json', again, false)).not.toBeNull();
    expect(JSON.parse(again.text).messages).toHaveLength(1_000);
    expect(deps.store.get(exportProgressAtom)).toBeNull();
  });

  it('is aborted when the session ends meanwhile', async () => {
    const { dataExport, deps, file, run } = exporting({
      logs: logOf(log),
      onPage: ({ after }) => {
        if (after !== 400) return;
        // As the messenger does when it stops.
        dataExport.cancel();
        deps.store.set(resetSessionAtomsAtom);
      },
    });
    expect(await run()).toBeNull();
    expect(file.outcome).toBe('aborted');
  });
});
