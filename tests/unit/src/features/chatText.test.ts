import { describe, expect, it } from 'vitest';
import { isSingleEmoji } from '#src/features/conversation/emoji.ts';
import { contentPreview } from '#src/features/conversation/preview.ts';
import { type Divider, timeline } from '#src/features/conversation/timeline.ts';
import { clip } from '#src/lib/clip.ts';
import { clipParts, linkParts } from '#src/lib/links.ts';
import { dayLabel, fullTimestamp, shortMoment, timeOfDay } from '#src/ui/format.ts';
import { message } from '../support/app.tsx';

/** A moment of local time, as the relay would write it. */
const local = (...parts: [number, number, number, number, number]) => new Date(...parts).toISOString();

describe('times of messages', () => {
  it.each([
    [local(2026, 5, 1, 0, 5), '12:05 AM'],
    [local(2026, 5, 1, 9, 7), '9:07 AM'],
    [local(2026, 5, 1, 12, 0), '12:00 PM'],
    [local(2026, 5, 1, 23, 59), '11:59 PM'],
  ])('%s reads %s', (timestamp, text) => {
    expect(timeOfDay(timestamp)).toBe(text);
  });

  const now = new Date(2026, 2, 30, 8, 0);

  it('names today and yesterday by the calendar, even where a day has 23 hours', () => {
    expect(dayLabel(local(2026, 2, 30, 0, 1), now)).toBe('Today');
    expect(dayLabel(local(2026, 2, 29, 0, 1), now)).toBe('Yesterday');
    expect(dayLabel(local(2026, 2, 28, 23, 59), now)).toMatch(/28/);
  });

  it('gives lists the time for today and the day for older moments', () => {
    expect(shortMoment(local(2026, 2, 30, 7, 30), now)).toBe('7:30 AM');
    expect(shortMoment(local(2026, 2, 29, 7, 30), now)).toBe('Yesterday');
    expect(shortMoment(local(2026, 0, 2, 7, 30), now)).not.toMatch(/AM/);
  });

  it('survives a malformed time', () => {
    expect(timeOfDay('soon')).toBe('');
    expect(fullTimestamp('')).toBe('');
    expect(dayLabel('soon', now)).toBe('');
  });
});

describe('a single emoji', () => {
  it.each(['👍', '❤️', '👍🏽', '🇫🇮', '1️⃣', '☝🏽', '😀'])('%s is shown large', (text) => {
    expect(isSingleEmoji(text)).toBe(true);
  });

  it.each(['', 'a', '1', '#', '👍👍', '👍 ', '©', 'ok!', '👨‍👩‍👧‍👦', '😀a'])('%j is not', (text) => {
    expect(isSingleEmoji(text)).toBe(false);
  });
});

describe('previews of messages', () => {
  it('stay on one line and short', () => {
    expect(contentPreview({ kind: 'text', text: '  two\n\nlines\t ' })).toBe('two lines');
    expect(contentPreview({ kind: 'text', text: 'x'.repeat(70_000) })).toHaveLength(141);
    expect(contentPreview({ kind: 'text', text: ' \n' })).toBe('No message content');
    expect(contentPreview({ kind: 'undecryptable', reason: 'rules' })).toBe("Message couldn't be decrypted");
    expect(contentPreview({ kind: 'unknown' })).toBe('Update the app to see this message');
  });
});

describe('the beginning of a text', () => {
  it.each([
    ['whole when it is short', 'abc', 5, 'abc'],
    ['no half of a letter beyond the first plane', 'ab\u{1D49C}c', 3, 'ab'],
    ['no half of an emoji', 'a👨‍👩‍👧‍👦', 5, 'a'],
    ['no skin tone cut off', 'ab👍🏽', 4, 'ab'],
    ['no accent cut off', 'abe\u0301', 3, 'ab'],
    ['anywhere in a heap of marks', `a${'\u0301'.repeat(100)}`, 50, `a${'\u0301'.repeat(49)}`],
    ['lone halves as they are', '\uD800\uD800\uD800', 2, '\uD800\uD800'],
  ])('is %s', (_, text, length, beginning) => {
    expect(clip(text, length)).toBe(beginning);
  });
});

describe('the timeline of a chat', () => {
  const at = (sender: string, timestamp: string) => message(sender, 'text', { timestamp });
  const notice = (id: string, timestamp: string) => ({ id, timestamp, text: id });
  const name = (divider: Divider) => (divider.kind === 'notice' ? divider.notice.id : divider.kind);
  /** Dividers above each message and ends of runs, as one word a message; then the dividers below the newest. */
  const outline = (input: Parameters<typeof timeline>[0]) => {
    const line = timeline(input);
    const messages = input.messages.map((_, index) => {
      const { above, first, last } = line.placeOf(index);
      return [...above.map(name), `${first ? '[' : ''}m${index}${last ? ']' : ''}`].join(' ');
    });
    return [...messages, ...line.below.map(name)];
  };

  it('splits by day, by sender and by a long silence', () => {
    const messages = [
      at('a', local(2026, 5, 1, 23, 58)),
      at('a', local(2026, 5, 2, 0, 1)),
      at('a', local(2026, 5, 2, 0, 2)),
      at('b', local(2026, 5, 2, 0, 3)),
      at('b', local(2026, 5, 2, 0, 9)),
    ];
    expect(outline({ messages })).toEqual(['day [m0]', 'day [m1', 'm2]', '[m3]', '[m4]']);
  });

  it('puts notices where their time is, under a day of their own if needed', () => {
    const messages = [
      at('a', local(2026, 5, 2, 0, 1)),
      at('a', local(2026, 5, 2, 0, 2)),
      at('a', local(2026, 5, 2, 0, 3)),
    ];
    const notices = [
      notice('earlier', local(2026, 5, 1, 12, 0)),
      notice('amid', local(2026, 5, 2, 0, 2)),
      notice('same day', local(2026, 5, 2, 12, 0)),
      notice('later', local(2026, 5, 3, 12, 0)),
    ];
    expect(outline({ messages, notices })).toEqual([
      'day earlier day [m0]',
      'amid [m1',
      'm2]',
      'same day',
      'day',
      'later',
    ]);
    expect(outline({ messages: [], notices })).toEqual([
      'day',
      'earlier',
      'day',
      'amid',
      'same day',
      'day',
      'later',
    ]);
  });

  it('leaves out notices whose place is among messages that are not loaded yet', () => {
    const messages = [at('a', local(2026, 5, 2, 0, 1))];
    const notices = [notice('earlier', local(2026, 5, 1, 12, 0)), notice('now', local(2026, 5, 2, 0, 1))];
    expect(outline({ messages, notices, hasOlder: true })).toEqual(['day now [m0]']);
  });

  it('puts notices of the log at their position, whatever times the relay says', () => {
    const noon = local(2026, 5, 2, 12, 0);
    const messages = [3, 5, 6].map((seq) => message('a', 'text', { seq, timestamp: noon }));
    const logged = (seq: number, timestamp: string) => ({ ...notice(`at ${seq}`, timestamp), seq });
    const notices = [
      logged(4, local(2026, 5, 2, 13, 0)),
      logged(6, local(2026, 5, 2, 11, 0)),
      logged(7, noon),
    ];
    expect(outline({ messages, notices })).toEqual(['day [m0]', 'at 4 [m1]', 'at 6 [m2]', 'at 7']);
    const waiting = message('a', 'text', { seq: null, timestamp: noon });
    expect(outline({ messages: [...messages, waiting], notices }).slice(2)).toEqual([
      'at 6 [m2',
      'm3]',
      'at 7',
    ]);
  });

  it('ends a run at the line of new messages', () => {
    const messages = [at('a', local(2026, 5, 2, 0, 1)), at('a', local(2026, 5, 2, 0, 2))];
    expect(outline({ messages, unreadFrom: 1 })).toEqual(['day [m0]', 'unread [m1]']);
  });

  it('is empty without messages and notices', () => {
    expect(outline({ messages: [] })).toEqual([]);
  });
});

describe('links in messages', () => {
  const links = (text: string) =>
    linkParts(text).flatMap(({ text: shown, link }) => (link ? [[shown, link.href, link.hiddenHost]] : []));

  it('are found among other words, which stay as they are', () => {
    const text = 'See https://example.com/a_(b)?q=1. Or (www.sinetti.fi), or aino@example.fi!';
    expect(links(text)).toEqual([
      ['https://example.com/a_(b)?q=1', 'https://example.com/a_(b)?q=1', null],
      ['www.sinetti.fi', 'https://www.sinetti.fi/', null],
      ['aino@example.fi', 'mailto:aino@example.fi', null],
    ]);
    expect(
      linkParts(text)
        .map((part) => part.text)
        .join(''),
    ).toBe(text);
  });

  it.each([
    ['https://аpple.com/login', 'xn--pple-43d.com'],
    ['https://ｇｏｏｇｌｅ.com/', 'google.com'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['https://ääkköset.fi/', 'xn--kkset-fraa0m.fi'],
  ])('%s says that it leads to %s', (text, host) => {
    expect(links(text)).toEqual([[text, expect.stringContaining(host), host]]);
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'ftp://example.com/',
    '//example.com/x',
    'readme.md',
    'https://bank.example@evil.example/',
    'https://user:password@evil.example/',
    'https://exam\u202Eple.com/',
    'https://example.com/\u202Egpj.exe',
    'https://exa\u200Bmple.com/',
    'https://example.com/\uD800',
    'http://',
    'https://[::1',
  ])('%j is none', (text) => {
    expect(links(text)).toEqual([]);
  });

  it('are not cut in two: half an address leads elsewhere', () => {
    const address = 'https://bank.example.com/';
    const parts = linkParts(`see ${address}`);
    expect(clipParts(parts, 20)).toEqual([{ text: 'see ' }, { text: 'https://bank.exa' }]);
    expect(clipParts(parts, 1000)).toEqual(parts);
    expect(links(`${'x '.repeat(8190)}${address}`)).toEqual([]);
  });

  it('are found without delay in the hardest of texts', () => {
    const hostile = ['http://', 'a@', 'www.', 'a.', 'http://a.b/(', 'x', '\u202E', '\uD800', 'a\u0301'];
    for (const piece of hostile) {
      const text = piece.repeat((64 * 1024) / piece.length);
      expect(
        linkParts(text)
          .map((part) => part.text)
          .join(''),
      ).toBe(text);
    }
  });
});
