import { describe, expect, it } from 'vitest';
import { isSingleEmoji } from '../../../../src/ui/chat/emoji.ts';
import { dayLabel, fullTimestamp, shortMoment, timeOfDay } from '../../../../src/ui/format.ts';
import { contentPreview } from '../../../../src/ui/chat/preview.ts';
import { timeline } from '../../../../src/ui/chat/timeline.ts';
import { message } from '../support/app.tsx';

/** A moment of local time, as the relay would write it. */
const local = (...parts: [number, number, number, number, number]) => new Date(...parts).toISOString();

describe('times', () => {
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

  it('gives lists the time of today and the day of what is older', () => {
    expect(shortMoment(local(2026, 2, 30, 7, 30), now)).toBe('7:30 AM');
    expect(shortMoment(local(2026, 2, 29, 7, 30), now)).toBe('Yesterday');
    expect(shortMoment(local(2026, 0, 2, 7, 30), now)).not.toMatch(/AM/);
  });

  it('survives what is no time', () => {
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

describe('previews', () => {
  it('stay on one line and short', () => {
    expect(contentPreview({ kind: 'text', text: '  two\n\nlines\t ' })).toBe('two lines');
    expect(contentPreview({ kind: 'text', text: 'x'.repeat(70_000) })).toHaveLength(141);
    expect(contentPreview({ kind: 'text', text: ' \n' })).toBe('No message content');
    expect(contentPreview({ kind: 'undecryptable', reason: 'rules' })).toBe("Message couldn't be decrypted");
    expect(contentPreview({ kind: 'unknown' })).toBe('Update the app to see this message');
  });
});

describe('the timeline', () => {
  const at = (sender: string, timestamp: string) => message(sender, 'text', { timestamp });
  const notice = (id: string, timestamp: string) => ({ id, timestamp, text: id });
  /** Each day as what stands in it: the number of messages of a run, or a notice's id. */
  const outline = (...input: Parameters<typeof timeline>) =>
    timeline(...input).map((day) =>
      day.items.map((item) => (item.kind === 'run' ? item.messages.length : item.notice.id)),
    );

  it('splits by day, by sender and by a long silence, and keeps the order', () => {
    const messages = [
      at('a', local(2026, 5, 1, 23, 58)),
      at('a', local(2026, 5, 2, 0, 1)),
      at('a', local(2026, 5, 2, 0, 2)),
      at('b', local(2026, 5, 2, 0, 3)),
      at('b', local(2026, 5, 2, 0, 9)),
    ];
    expect(outline(messages)).toEqual([[1], [2, 1, 1]]);
    expect(
      timeline(messages).flatMap((day) =>
        day.items.flatMap((item) => (item.kind === 'run' ? item.messages : [])),
      ),
    ).toEqual(messages);
  });

  it('puts notices where their time is, in days of their own if need be', () => {
    const messages = [
      at('a', local(2026, 5, 2, 0, 1)),
      at('a', local(2026, 5, 2, 0, 2)),
      at('a', local(2026, 5, 2, 0, 3)),
    ];
    const notices = [
      notice('earlier', local(2026, 5, 1, 12, 0)),
      notice('amid', local(2026, 5, 2, 0, 2)),
      notice('later', local(2026, 5, 3, 12, 0)),
    ];
    expect(outline(messages, notices)).toEqual([['earlier'], [1, 'amid', 2], ['later']]);
    expect(outline([], notices)).toEqual([['earlier'], ['amid'], ['later']]);
  });

  it('of nothing is nothing', () => {
    expect(timeline([])).toEqual([]);
  });
});
