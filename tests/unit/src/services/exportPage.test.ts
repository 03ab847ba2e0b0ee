import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { MessageView } from '#src/crypto/client.ts';
import { activateLocale } from '#src/i18n/i18n.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { conversationId, me, peer, received, state } from './support/deps.ts';
import { anna, exporting, logOf } from './support/exported.ts';

const text = (value: string): Pick<MessageView, 'content'> => ({ content: { kind: 'text', text: value } });

async function page(world: Parameters<typeof exporting>[0]): Promise<{ source: string; document: Document }> {
  const { file, run } = exporting(world);
  await run('html');
  const source = file.text;
  return { source, document: new DOMParser().parseFromString(source, 'text/html') };
}

function shown(root: ParentNode, selector: string): string[] {
  return [...root.querySelectorAll(selector)].map((element) => element.textContent ?? '');
}

afterEach(() => activateLocale('en'));

describe('the readable file', () => {
  it('tells who one is, whom one knows, and each conversation by days', async () => {
    const { document } = await page({
      logs: logOf([
        received(1, { ...text('Are you there?'), timestamp: '2026-03-01T10:00:00.000Z' }),
        received(2, { ...text('Yes.'), timestamp: '2026-03-01T10:01:00.000Z', senderId: me, status: 'sent' }),
        received(3, { ...text('Good morning'), timestamp: '2026-03-03T10:00:00.000Z' }),
      ]),
    });
    expect(document.title).toBe('Your data in Sinetti');
    expect(shown(document, 'h2')).toEqual([
      'Profile',
      'Contacts',
      'Groups',
      'Devices',
      'Conversations',
      'bert',
    ]);
    expect(document.body.textContent).toContain('anna@example.org');
    expect(document.body.textContent).toContain('Firefox on Linux');
    expect(shown(document, 'h3')).toEqual(['Sunday, March 1, 2026', 'Tuesday, March 3, 2026']);
    expect(shown(document, '.text')).toEqual(['Are you there?', 'Yes.', 'Good morning']);
    expect(shown(document, '.own .text')).toEqual(['Yes.']);
    expect(shown(document, 'ol').length).toBe(2);
    const contents = document.querySelector('a');
    expect(contents?.textContent).toBe('bert');
    expect(document.getElementById(contents?.getAttribute('href')?.slice(1) ?? '')).not.toBeNull();
  });

  it('has formatted messages as they are meant, without an element of their author or a name that they made up', async () => {
    const said =
      '**Sun** <b>b</b>\n\n- [@x](sinetti:user/PEER)\n- [a](https://a.example) [b](javascript:b)'.replace(
        'PEER',
        peer,
      );
    const { document } = await page({
      logs: logOf([received(1, { content: { kind: 'text', text: said, isMarkdown: true } })]),
    });
    expect(shown(document, '.text strong')).toEqual(['Sun']);
    expect(shown(document, '.text b, .text script')).toEqual([]);
    expect(shown(document, '.text li')).toEqual(['@bert', 'a (a.example) [b](javascript:b)']);
    expect([...document.querySelectorAll('.text a')].map((link) => link.getAttribute('href'))).toEqual([
      'https://a.example/',
    ]);
  });

  it('says what can not be read, and what was not sent', async () => {
    const { document } = await page({
      logs: logOf([
        received(1, { content: { kind: 'undecryptable', reason: 'damaged' } }),
        received(2, { content: { kind: 'unknown' } }),
      ]),
      outbox: [
        { ...received(0), seq: null, messageId: 'w', senderId: me, status: 'failed', ...text('Lost') },
      ],
    });
    expect(shown(document, '.messages .none')).toEqual([
      "Message couldn't be decrypted. It was damaged or changed on its way.",
      'A message of a newer version',
    ]);
    expect(shown(document, '.own .meta')[0]).toContain('Not sent');
  });

  it('tells which messages are pinned', async () => {
    const pinned = received(2, text('The rules.'));
    const { document } = await page({
      logs: logOf([received(1, text('Hello.')), pinned]),
      states: [state({ pinned: [pinned] })],
    });
    expect(shown(document, '.messages .meta').map((meta) => meta.includes('Pinned'))).toEqual([false, true]);
  });

  it('tells of answers, edits, deletions and reactions', async () => {
    const { content, messageId, senderId } = received(1, text('Shall we row?'));
    const { document } = await page({
      logs: logOf([
        received(1, { ...text('Shall we row?'), isEdited: true }),
        received(2, { ...text('Yes.'), senderId: me, quote: { message: { content, messageId, senderId } } }),
        received(3, { content: { kind: 'deleted' }, reactions: [{ emoji: '👍', userIds: [me, peer] }] }),
      ]),
      versions: [
        { timestamp: '2026-03-01T10:00:00.000Z', text: 'Shall we?' },
        { timestamp: '2026-03-01T10:01:00.000Z', text: 'Shall we row?' },
      ],
    });
    const [earlier, answers, deleted] = shown(document, '.messages .none');
    expect(earlier).toMatch(/^Before an edit, .*: Shall we\?$/);
    expect([answers, deleted]).toEqual(['In reply to bert: Shall we row?', 'This message was deleted']);
    expect(shown(document, '.messages .meta').at(-1)).toBe('👍 anna, bert');
  });

  it('tells of files by their names, kinds and sizes, with their caption, and what answers to them', async () => {
    const files = [
      { kind: 'picture', name: 'lake.webp', type: 'image/webp', size: 12_000, description: 'At night' },
      { kind: 'file', name: '', type: 'application/octet-stream', size: 3, description: '' },
    ] as const;
    const content = { kind: 'files', text: 'From *yesterday*', isMarkdown: true, files } as const;
    const { messageId, senderId } = received(1);
    const world = {
      logs: logOf([
        received(1, { content }),
        received(2, { content: { kind: 'files', text: '', files } }),
        received(3, { ...text('Nice.'), quote: { message: { content, messageId, senderId } } }),
        received(4, { ...text('What?'), quote: { message: null, hasDisappeared: true } }),
        received(5, { ...text('Who?'), quote: { message: null } }),
      ]),
    };
    const { document } = await page(world);
    expect(shown(document, '.files li')).toEqual([
      'lake.webp Picture · image/webp · 12 kB At night',
      'File without a name File · application/octet-stream · 3 bytes',
      'lake.webp Picture · image/webp · 12 kB At night',
      'File without a name File · application/octet-stream · 3 bytes',
    ]);
    expect(shown(document, '.text')).toEqual(['From yesterday', 'Nice.', 'What?', 'Who?']);
    expect(shown(document, '.messages .none')).toEqual([
      'In reply to bert: lake.webp · File without a name · From yesterday',
      'In reply to a message that has disappeared',
      'In reply to a message that isn’t on this device',
    ]);
    const { file, run } = exporting(world);
    await run('json');
    const { messages } = JSON.parse(file.text) as { messages: Record<string, unknown>[] };
    expect(messages[0]).toMatchObject({ kind: 'files', content: 'From *yesterday*', files });
    expect(messages.map(({ content_type }) => content_type)).toEqual([
      'text/markdown',
      null,
      'text/plain',
      'text/plain',
      'text/plain',
    ]);
    expect(messages.map(({ answers }) => answers)).toEqual([null, null, 'here', 'disappeared', 'missing']);
  });

  it('is in the language of the person', async () => {
    await activateLocale('fi');
    const { document } = await page({ logs: logOf([received(1)]) });
    expect(document.documentElement.lang).toBe('fi');
    expect(document.title).toBe('Tietosi: Sinetti');
    expect(shown(document, 'h2')).toContain('Keskustelut');
  });

  it('says None under each heading that has nothing', async () => {
    const { document } = await page({});
    expect(document.querySelectorAll('section')).toHaveLength(5);
    expect(shown(document, 'section:last-of-type .none')).toEqual(['None']);
  });
});

describe('the text of the readable file', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '</p></li></ol></section><img src=x onerror=alert(1)>',
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    '<!-- --><!--',
    '</style><style>*{display:none}</style>',
    '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    '&lt;script&gt; &amp;amp; &#x3c;',
    '{{constructor}} ${1} `x`',
    '\u202eevil\u2066 \u200b\ufeff',
    'line one\nline two\ttabbed',
  ];

  it('stays what people wrote, whatever it looks like: as a message, a name, a group, a device', async () => {
    const { deps, file, run } = exporting({
      logs: new Map([
        [conversationId, hostile.map((value, at) => received(at + 1, text(value)))],
        ['group:99999999-0000-4000-8000-000000000009', [received(1, { conversationId: 'group:9' })]],
      ]),
      states: [
        state(),
        state({
          conversationId: 'group:99999999-0000-4000-8000-000000000009',
          group: {
            name: hostile[1] ?? '',
            creatorId: me,
            leavingIds: [],
            withoutDeviceIds: [],
            unvouchedIds: [],
            removalDue: false,
            nameDue: false,
          },
        }),
      ],
    });
    deps.store.set(currentUserAtom, { ...anna, username: hostile[0] ?? '', email: hostile[2] ?? '' });
    await run('html');
    const document = new DOMParser().parseFromString(file.text, 'text/html');
    expect(shown(document, '.text').slice(0, hostile.length)).toEqual(hostile);
    expect(document.querySelectorAll('script, img, svg, iframe, object, link, base, form')).toHaveLength(0);
    expect(document.querySelectorAll('meta[http-equiv]')).toHaveLength(1);
    expect(document.querySelectorAll('style')).toHaveLength(1);
    const attributes = [...document.querySelectorAll('*')].flatMap((element) => element.getAttributeNames());
    expect(new Set(attributes)).toEqual(
      new Set(['lang', 'dir', 'charset', 'http-equiv', 'content', 'name', 'class', 'id', 'href', 'datetime']),
    );
    expect(shown(document, 'dd bdi')).toEqual([hostile[0], hostile[2]]);
  });

  it('keeps its tags apart from any text there is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (value) => {
        const { source } = await page({ logs: logOf([received(1, text(value))]) });
        const inside = /<p class="text" dir="auto">([^]*?)<\/p>/.exec(source)?.[1] ?? '<';
        expect(inside).not.toMatch(/[<>"']/);
        // Nothing that HTML can't hold is left, and bytes of UTF-8 can be made of it.
        expect(inside).not.toMatch(/[^\P{Cc}\t\n\r]|[\p{Cs}\uFFFE\uFFFF]/u);
        expect(new TextDecoder('utf-8', { fatal: true }).decode(new TextEncoder().encode(inside))).toBe(
          inside,
        );
      }),
      { seed: 11, numRuns: 60 },
    );
  });

  it('runs nothing and loads nothing: its own policy allows its own stylesheet only', async () => {
    const { document, source } = await page({ logs: logOf([received(1)]) });
    const policy = document
      .querySelector('meta[http-equiv="Content-Security-Policy"]')
      ?.getAttribute('content');
    const stylesheet = /<style>([^]*?)<\/style>/.exec(source)?.[1] ?? '';
    const hash = createHash('sha256').update(stylesheet).digest('base64');
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
    );
    expect(source.indexOf('Content-Security-Policy')).toBeLessThan(source.indexOf('<style>'));
    expect(source).not.toMatch(/https?:|url\(|@import/);
  });
});
