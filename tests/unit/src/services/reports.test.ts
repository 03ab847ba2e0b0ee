import { describe, expect, it, vi } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { limits } from '#src/net/contract.ts';
import { NetworkError } from '#src/net/errors.ts';
import { report } from '#src/services/people/reports.ts';
import { peer, refused } from './support/deps.ts';

const timestamp = '2026-03-01T12:00:00.000Z';
const content = {
  userId: peer,
  reason: 'spam',
  text: 'Again.',
  messages: [{ timestamp, text: 'Buy' }],
} as const;

const withApi = (answer: Api['report'] = async () => ({ id: peer })) => {
  const api = { report: vi.fn<Api['report']>(answer) };
  return { api, deps: { api } as unknown as Parameters<typeof report>[0] };
};

describe('a report', () => {
  it('is sent as it was written, with the chosen messages alone', async () => {
    const { api, deps } = withApi();
    await report(deps, content);
    expect(api.report).toHaveBeenCalledExactlyOnceWith({
      user_id: peer,
      reason: 'spam',
      text: 'Again.',
      messages: [{ sent_at: timestamp, text: 'Buy' }],
    });
  });

  it('is cut where it is too long, and has nothing in it that a database refuses', async () => {
    const { api, deps } = withApi();
    const message = { timestamp, text: `${'x'.repeat(limits.reportedMessageMax - 1)}👍` };
    await report(deps, {
      ...content,
      text: 'a\0b\uD800',
      messages: Array.from({ length: 12 }, () => message),
    });
    const [sent] = api.report.mock.calls[0] ?? [];
    expect(sent?.text).toBe('a\uFFFDb\uFFFD');
    expect(sent?.messages).toHaveLength(limits.messagesPerReport);
    expect(sent?.messages[0]?.text).toBe('x'.repeat(limits.reportedMessageMax - 1));
  });

  it.each([
    [
      refused('limit-reached', 'At most 20 of your reports can wait.'),
      'At most 20 of your reports can wait.',
    ],
    [new NetworkError('unreachable'), "The report couldn't be sent."],
  ])('that fails says why: %s', async (error, sentence) => {
    const { deps } = withApi(async () => {
      throw error;
    });
    await expect(report(deps, content)).rejects.toThrow(sentence);
  });
});
